//! The words of one command, taken one after the other. A word that is not what it should be ends the program: the
//! tests, which write them, are wrong then.

use std::str::FromStr;

use iggy::prelude::*;

pub struct Words<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Words<'a> {
    pub fn new(line: &'a str) -> Self {
        Words(line.split_whitespace())
    }

    pub fn text(&mut self) -> &'a str {
        self.0.next().expect("one more word")
    }

    pub fn number<T: FromStr>(&mut self) -> T {
        parsed(self.text())
    }

    pub fn id(&mut self) -> Identifier {
        Identifier::named(self.text()).expect("a name")
    }

    /// A number, or `-` for whichever the server chooses.
    pub fn partition(&mut self) -> Option<u32> {
        match self.text() {
            "-" => None,
            number => Some(parsed(number)),
        }
    }

    pub fn consumer(&mut self) -> Consumer {
        match self.text().split_once(':').expect("kind:id") {
            ("group", name) => Consumer::group(Identifier::named(name).expect("a name")),
            (_, number) => Consumer::new(Identifier::numeric(parsed(number)).expect("a number")),
        }
    }

    pub fn partitioning(&mut self) -> Partitioning {
        match self.text().split_once(':') {
            Some(("partition", number)) => Partitioning::partition_id(parsed(number)),
            Some((_, key)) => Partitioning::messages_key_str(key).expect("a key"),
            None => Partitioning::balanced(),
        }
    }

    pub fn strategy(&mut self) -> PollingStrategy {
        let word = self.text();
        match word.split_once(':') {
            Some(("offset", number)) => PollingStrategy::offset(parsed(number)),
            Some((_, micros)) => {
                PollingStrategy::timestamp(IggyTimestamp::from(parsed::<u64>(micros)))
            }
            None if word == "first" => PollingStrategy::first(),
            None if word == "last" => PollingStrategy::last(),
            None => PollingStrategy::next(),
        }
    }

    /// `all`, `poll` (read topics and poll them, everywhere) or `none`.
    pub fn permissions(&mut self) -> Option<Permissions> {
        let global = match self.text() {
            "none" => return None,
            "all" => Permissions::root().global,
            _ => GlobalPermissions {
                read_topics: true,
                poll_messages: true,
                ..Default::default()
            },
        };
        Some(Permissions {
            global,
            streams: None,
        })
    }
}

fn parsed<T: FromStr>(word: &str) -> T {
    word.parse()
        .unwrap_or_else(|_| panic!("{word} is not a number"))
}
