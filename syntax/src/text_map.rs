//! Maps offsets in decoded text to offsets in the file.
//!
//! Text inside XML elements is lexed after entities and CDATA sections are resolved, but every span
//! must point into the raw file. In plain files both are the same.

/// The origin of pieces of decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextMap {
    /// Decoded and raw text differ by a constant.
    Shift(u32),
    /// Pieces in order: decoded start, raw start, and whether offsets inside advance together (an
    /// entity is one unit).
    Pieces { pieces: Vec<Segment>, raw_end: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub decoded: u32,
    pub raw: u32,
    pub verbatim: bool,
}

impl TextMap {
    /// Raw offset of the first byte at or after decoded offset `at`.
    pub(crate) fn start(&self, at: u32) -> u32 {
        match self {
            TextMap::Shift(base) => base + at,
            TextMap::Pieces { pieces, raw_end } => {
                match pieces.partition_point(|s| s.decoded <= at) {
                    0 => pieces.first().map_or(*raw_end, |s| s.raw),
                    n => {
                        let s = pieces[n - 1];
                        let limit = pieces.get(n).map_or(*raw_end, |s| s.raw);
                        if s.verbatim || at == s.decoded {
                            (s.raw + (at - s.decoded)).min(limit)
                        } else {
                            limit
                        }
                    }
                }
            }
        }
    }

    /// Raw offset of the end of the text before decoded offset `at`.
    pub(crate) fn end(&self, at: u32) -> u32 {
        match self {
            TextMap::Shift(base) => base + at,
            TextMap::Pieces { pieces, raw_end } => match pieces.partition_point(|s| s.decoded < at)
            {
                0 => self.start(at),
                n => {
                    let s = pieces[n - 1];
                    let limit = pieces.get(n).map_or(*raw_end, |s| s.raw);
                    if s.verbatim {
                        (s.raw + (at - s.decoded)).min(limit)
                    } else {
                        limit
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_one_unit() {
        // raw "a&lt;b" at 10, decoded "a<b"
        let map = TextMap::Pieces {
            pieces: vec![
                Segment {
                    decoded: 0,
                    raw: 10,
                    verbatim: true,
                },
                Segment {
                    decoded: 1,
                    raw: 11,
                    verbatim: false,
                },
                Segment {
                    decoded: 2,
                    raw: 15,
                    verbatim: true,
                },
            ],
            raw_end: 16,
        };
        assert_eq!((map.start(0), map.end(1)), (10, 11));
        assert_eq!((map.start(1), map.end(2)), (11, 15));
        assert_eq!((map.start(2), map.end(3)), (15, 16));
        assert_eq!((map.start(3), map.end(0)), (16, 10));
    }
}
