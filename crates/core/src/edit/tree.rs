//! Edits as a tree along the document, which is where two edits that touch each other meet.

use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::Json;
use crate::refusal::Refusal;
use crate::secret::Search;

/// Edits below one container. Array elements are keyed by their index as text.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    pub(super) children: IndexMap<String, Node>,
    pub(super) appended: Vec<Json>,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Leaf(Leaf),
    Branch(Branch),
}

#[derive(Debug, Clone)]
pub(super) enum Leaf {
    Set(Json),
    Remove,
    /// Sorted by place, not overlapping.
    Splices(Vec<Splice>),
}

#[derive(Debug, Clone)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) replacement: Arc<str>,
}

impl Branch {
    /// Looks at every name and value that is put in.
    pub(super) fn search(&self, search: &mut Search<'_>) {
        for (name, node) in &self.children {
            search.text(name);
            match node {
                Node::Branch(below) => below.search(search),
                Node::Leaf(Leaf::Set(value)) => search.json(value),
                Node::Leaf(Leaf::Splices(splices)) => splices
                    .iter()
                    .for_each(|splice| search.text(&splice.replacement)),
                Node::Leaf(Leaf::Remove) => {}
            }
        }
        self.appended.iter().for_each(|value| search.json(value));
    }

    /// The branch that holds the edits of the container at `path`.
    fn descend(&mut self, path: &[String]) -> Result<&mut Self, Refusal> {
        let mut branch = self;
        for token in path {
            let children = &mut branch.children;
            let index = match children.get_index_of(token) {
                Some(index) => index,
                None => {
                    let below = Node::Branch(Self::default());
                    children.insert_full(token.clone(), below).0
                }
            };
            match &mut children[index] {
                Node::Branch(below) => branch = below,
                Node::Leaf(_) => return Err(conflict(path)),
            }
        }
        Ok(branch)
    }

    /// Whether `descend` would meet an edit. Asked first, so that a refused edit leaves nothing behind.
    fn blocked(&self, path: &[String]) -> bool {
        let mut branch = self;
        for token in path {
            match branch.children.get(token) {
                Some(Node::Branch(below)) => branch = below,
                Some(Node::Leaf(_)) => return true,
                None => return false,
            }
        }
        false
    }

    pub(super) fn insert(&mut self, path: &[String], node: Node) -> Result<(), Refusal> {
        let (name, above) = path.split_last().ok_or_else(|| conflict(path))?;
        if self.blocked(path) {
            return Err(conflict(path));
        }
        let branch = self.descend(above)?;
        if branch.children.contains_key(name) {
            return Err(conflict(path));
        }
        branch.children.insert(name.clone(), node);
        Ok(())
    }

    pub(super) fn append(&mut self, array: &[String], value: Json) -> Result<(), Refusal> {
        if self.blocked(array) {
            return Err(conflict(array));
        }
        self.descend(array)?.appended.push(value);
        Ok(())
    }

    /// Whether [`Branch::splice`] would take the splices.
    pub(super) fn admits(&self, path: &[String], new: &[Splice]) -> Result<(), Refusal> {
        let mut branch = self;
        for (index, token) in path.iter().enumerate() {
            branch = match branch.children.get(token) {
                None => return Ok(()),
                Some(Node::Branch(below)) => below,
                Some(Node::Leaf(Leaf::Splices(splices)))
                    if index + 1 == path.len()
                        && !new.iter().any(|new| overlaps(splices, &new.range)) =>
                {
                    return Ok(());
                }
                Some(Node::Leaf(_)) => return Err(conflict(path)),
            };
        }
        // Edits below it: it would be no string.
        Err(conflict(path))
    }

    /// Takes in the splices of another tree, all of which are admitted.
    pub(super) fn absorb(&mut self, other: Self) {
        if self.children.is_empty() {
            self.children = other.children;
            return;
        }
        for (name, node) in other.children {
            match (self.children.get_mut(&name), node) {
                (Some(Node::Branch(below)), Node::Branch(more)) => below.absorb(more),
                (Some(Node::Leaf(Leaf::Splices(splices))), Node::Leaf(Leaf::Splices(more))) => {
                    splices.extend(more);
                    splices.sort_by_key(|splice| splice.range.start);
                }
                (_, node) => drop(self.children.insert(name, node)),
            }
        }
    }

    /// Adds splices of one string, which are sorted and do not overlap each other: all or none.
    pub(super) fn splice(&mut self, path: &[String], new: Vec<Splice>) -> Result<(), Refusal> {
        let (name, above) = path.split_last().ok_or_else(|| conflict(path))?;
        if self.blocked(above) {
            return Err(conflict(path));
        }
        let children = &mut self.descend(above)?.children;
        match children.get_mut(name) {
            None => {
                children.insert(name.clone(), Node::Leaf(Leaf::Splices(new)));
                Ok(())
            }
            Some(Node::Leaf(Leaf::Splices(splices))) => {
                if new.iter().any(|splice| overlaps(splices, &splice.range)) {
                    return Err(conflict(path));
                }
                splices.extend(new);
                splices.sort_by_key(|splice| splice.range.start);
                Ok(())
            }
            Some(_) => Err(conflict(path)),
        }
    }
}

/// Whether `range` touches one of the sorted `splices`: shares a byte with it, or its start.
fn overlaps(splices: &[Splice], range: &Range<usize>) -> bool {
    let index = splices.partition_point(|other| other.range.start < range.start);
    let before = index.checked_sub(1).and_then(|before| splices.get(before));
    before.is_some_and(|other| other.range.end > range.start)
        || splices
            .get(index)
            .is_some_and(|other| other.range.start == range.start || other.range.start < range.end)
}

fn conflict(path: &[String]) -> Refusal {
    Refusal::conflict(format!(
        "an earlier edit of this call touches /{}",
        path.join("/")
    ))
}
