#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| zonelens_syntax::fuzzing::reparse(data));
