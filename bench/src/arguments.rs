//! The command line.

use std::collections::HashMap;

use crate::Failure;

/// A box: where it begins and how long it is along each axis.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Region {
    pub start: Vec<u64>,
    pub shape: Vec<u64>,
}

impl Region {
    /// Its elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }
}

/// The operation and its `--name value` options.
pub struct Arguments {
    /// What is timed.
    pub operation: String,
    options: HashMap<String, String>,
}

impl Arguments {
    /// Those of the process.
    pub fn parse() -> Result<Self, Failure> {
        let mut given = std::env::args().skip(1);
        let operation = given.next().ok_or("usage: PROGRAM OPERATION --name value ...")?;
        let mut options = HashMap::new();
        while let Some(name) = given.next() {
            let name = name.strip_prefix("--").ok_or_else(|| format!("{name}: options begin with --"))?.to_string();
            let value = given.next().ok_or_else(|| format!("--{name} takes a value"))?;
            options.insert(name, value);
        }
        Ok(Self { operation, options })
    }
    /// An option that must be there.
    pub fn get(&self, name: &str) -> Result<&str, Failure> {
        Ok(self.options.get(name).ok_or_else(|| format!("--{name} is missing"))?)
    }
    /// An option, or another value.
    pub fn or<'a>(&'a self, name: &str, other: &'a str) -> &'a str {
        self.options.get(name).map_or(other, String::as_str)
    }
    /// How often the operation is timed.
    pub fn iterations(&self) -> Result<usize, Failure> {
        Ok(self.or("iters", "3").parse()?)
    }
    /// How often it is done before that: pages, files and branch predictors are then as they will stay.
    pub fn warm_up(&self) -> Result<usize, Failure> {
        Ok(self.or("warm", "1").parse()?)
    }
    /// Threads; each engine's own choice where there is none.
    pub fn threads(&self) -> Result<Option<usize>, Failure> {
        Ok(self.options.get("threads").map(|n| n.parse()).transpose()?)
    }
    /// True where the variant's words hold this one.
    pub fn is(&self, word: &str) -> bool {
        self.or("variant", "").split(',').any(|w| w == word)
    }
    /// The boxes of the selection file: a line each, the starts, then the shape.
    pub fn selections(&self) -> Result<Vec<Region>, Failure> {
        let text = std::fs::read_to_string(self.get("sel")?)?;
        let mut found = Vec::new();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
            let (start, shape) = numbers.split_at(numbers.len() / 2);
            found.push(Region { start: start.to_vec(), shape: shape.to_vec() });
        }
        Ok(found)
    }
}
