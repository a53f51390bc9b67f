//! What a merge finds beside its pair, summed by neighbour.

use super::cells::Cell;

/// No list: the pair is not kept.
pub(super) const DROPPED: u32 = u32::MAX;

/// The neighbours on one side of the pair being merged.
///
/// Few neighbours are met in one merge, so what is known of them stands close together, and one array of 4 bytes a
/// symbol says where. The edge of a word counts as a neighbour: as a place like all others it costs less than a branch
/// that is taken every other time.
#[derive(Default)]
pub(super) struct Side {
    /// The place of each neighbour among those met, by [`Cell::rank`]; 0 for one that was not met.
    places: Vec<u32>,
    /// The edge, then the neighbours met, in the order of their first occurrence.
    met: Vec<Neighbour>,
    /// Each occurrence as (place of the neighbour, position), ascending by position.
    found: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) symbol: u32,
    pub(super) occurrences: u32,
    pub(super) weight: u64,
    /// The list that the occurrences go to, or [`DROPPED`].
    pub(super) list: u32,
    /// How far before the position of an occurrence the pair begins.
    pub(super) before: u32,
}

impl Neighbour {
    fn new(symbol: u32) -> Self {
        Self { symbol, occurrences: 0, weight: 0, list: DROPPED, before: 0 }
    }
}

impl Side {
    pub(super) fn new(symbols: usize) -> Self {
        Self { places: vec![0; symbols + 1], met: vec![Neighbour::new(u32::MAX)], found: Vec::new() }
    }

    /// Makes room for the symbol that a merge makes.
    pub(super) fn add_symbol(&mut self) {
        self.places.push(0);
    }

    #[inline]
    pub(super) fn add<C: Cell>(&mut self, neighbour: C, position: u32, weight: u64) {
        let place = &mut self.places[neighbour.rank()];
        if *place == 0 {
            *place = self.met.len() as u32;
            self.met.push(Neighbour::new(neighbour.symbol()));
        }
        let met = &mut self.met[*place as usize];
        met.weight += weight;
        met.occurrences += 1;
        self.found.push((*place, position));
    }

    /// The neighbours met.
    pub(super) fn met(&mut self) -> &mut [Neighbour] {
        &mut self.met[1..]
    }

    /// Writes the occurrences to the lists of the pairs kept, and forgets everything. The last entry of `lists` is
    /// one that nobody reads: where the others are written without asking.
    pub(super) fn settle(&mut self, lists: &mut [u32]) {
        let nowhere = lists.len() as u32 - 1;
        // From here on `occurrences` is by how much a list moves on.
        for met in &mut self.met {
            met.occurrences = u32::from(met.list != DROPPED);
            met.list = met.list.min(nowhere);
        }
        for (place, position) in self.found.drain(..) {
            let met = &mut self.met[place as usize];
            lists[met.list as usize] = position.wrapping_sub(met.before);
            met.list += met.occurrences;
        }
        for met in self.met.drain(1..) {
            self.places[met.symbol as usize + 1] = 0;
        }
        self.met[0] = Neighbour::new(u32::MAX);
    }
}
