//! Permutations of the elements of all scalarsets at once.

use crate::graph::Compact;

/// The image of every element, for each reduced scalarset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Permutation(pub Vec<Vec<u16>>);

impl Permutation {
    /// The identity, for sets of these sizes.
    pub(crate) fn identity(sizes: impl Iterator<Item = usize>) -> Permutation {
        Permutation(sizes.map(|n| (0..n as u16).collect()).collect())
    }

    /// Whether it is the identity.
    pub(crate) fn is_identity(&self) -> bool {
        self.0
            .iter()
            .all(|images| images.iter().enumerate().all(|(i, e)| i == *e as usize))
    }

    /// The composition: first `first`, then `self`.
    pub(crate) fn after(&self, first: &Permutation) -> Permutation {
        let compose = |(then, first): (&Vec<u16>, &Vec<u16>)| {
            first.iter().map(|e| then[*e as usize]).collect()
        };
        Permutation(self.0.iter().zip(&first.0).map(compose).collect())
    }

    /// The inverse.
    pub(crate) fn inverse(&self) -> Permutation {
        let invert = |images: &Vec<u16>| {
            let mut inverse = vec![0; images.len()];
            for (i, e) in images.iter().enumerate() {
                inverse[*e as usize] = i as u16;
            }
            inverse
        };
        Permutation(self.0.iter().map(invert).collect())
    }
}

/// Elements that are next to each other mostly stay so: an image is a sequence of runs.
impl Compact for Permutation {
    fn pack(&self, out: &mut Vec<u16>) {
        for images in &self.0 {
            let runs = images.chunk_by(|a, b| a.checked_add(1) == Some(*b));
            let at = out.len();
            out.push(0);
            for run in runs {
                out.extend([run[0], run.len() as u16]);
                out[at] += 1;
            }
        }
    }

    fn unpack(words: &[u16]) -> Permutation {
        let (mut sets, mut rest) = (Vec::new(), words);
        while let Some((count, more)) = rest.split_first() {
            let (runs, after) = more.split_at(2 * *count as usize);
            let images = runs
                .chunks_exact(2)
                .flat_map(|run| (0..run[1]).map(|k| run[0] + k));
            sets.push(images.collect());
            rest = after;
        }
        Permutation(sets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonelens_interpreter::Rng;

    fn random(rng: &mut Rng, n: usize) -> Permutation {
        let mut images: Vec<u16> = (0..n as u16).collect();
        for i in (1..n).rev() {
            images.swap(i, rng.below(i + 1));
        }
        Permutation(vec![images])
    }

    #[test]
    fn a_group() {
        let mut rng = Rng::new(5);
        for n in 1..8 {
            let (a, b, c) = (
                random(&mut rng, n),
                random(&mut rng, n),
                random(&mut rng, n),
            );
            assert_eq!(a.after(&b).after(&c), a.after(&b.after(&c)));
            for p in [&a, &b, &a.after(&a.inverse())] {
                let mut words = Vec::new();
                p.pack(&mut words);
                assert_eq!(Permutation::unpack(&words), *p);
            }
            assert!(a.after(&a.inverse()).is_identity() && a.inverse().after(&a).is_identity());
        }
    }
}
