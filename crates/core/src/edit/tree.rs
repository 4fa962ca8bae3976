//! Edits as a tree along the document, which is where two edits that touch each other meet.

use std::ops::Range;

use indexmap::IndexMap;

use crate::Json;
use crate::refusal::Refusal;

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
    pub(super) replacement: String,
}

impl Branch {
    /// The branch that holds the edits of the container at `path`.
    fn descend(&mut self, path: &[String]) -> Result<&mut Self, Refusal> {
        let mut branch = self;
        for token in path {
            let node = branch
                .children
                .entry(token.clone())
                .or_insert_with(|| Node::Branch(Self::default()));
            match node {
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

    pub(super) fn splice(&mut self, path: &[String], splice: Splice) -> Result<(), Refusal> {
        let (name, above) = path.split_last().ok_or_else(|| conflict(path))?;
        if self.blocked(above) {
            return Err(conflict(path));
        }
        match self.descend(above)?.children.get_mut(name) {
            None => {
                let leaf = Node::Leaf(Leaf::Splices(vec![splice]));
                self.descend(above)?.children.insert(name.clone(), leaf);
                Ok(())
            }
            Some(Node::Leaf(Leaf::Splices(splices))) => {
                let index = splices.partition_point(|other| other.range.start < splice.range.start);
                let overlaps = |other: &Splice| {
                    other.range.start == splice.range.start
                        || (other.range.start < splice.range.end
                            && splice.range.start < other.range.end)
                };
                let before = index.checked_sub(1).and_then(|before| splices.get(before));
                if before.is_some_and(overlaps) || splices.get(index).is_some_and(overlaps) {
                    return Err(conflict(path));
                }
                splices.insert(index, splice);
                Ok(())
            }
            Some(_) => Err(conflict(path)),
        }
    }
}

fn conflict(path: &[String]) -> Refusal {
    Refusal::conflict(format!(
        "an earlier edit of this call touches /{}",
        path.join("/")
    ))
}
