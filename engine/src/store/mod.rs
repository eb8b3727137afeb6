//! The one database of an engine: rows with one writer, the core, by store effects.
//!
//! Here it is opened and written; `load` reads what a core starts from, `journal` says which journal rows are whole.

pub mod journal;
mod load;

use rusqlite::{Connection, ErrorCode};

pub use load::{Damage, Place, Stored, StoredChat, StoredDoc};

use crate::core::{
    effect::{DocKind, DocWrite, Txn, blob_key},
    input::StoreError,
};

/// Version of the schema, kept in the database's `user_version`.
pub const SCHEMA_VERSION: u32 = 3;
/// The database's `application_id`: a file of somebody else is told by it.
const APPLICATION_ID: u32 = 0x7265_6873;

// A document's snapshot changes seldom and its updates often, so that they stand apart: what a document holds is told by its
// last update, and by the snapshot where there is none.
const SCHEMA: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chats (chat TEXT PRIMARY KEY, row TEXT, config TEXT) WITHOUT ROWID;
CREATE TABLE sessions (chat TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE messages (n INTEGER PRIMARY KEY, chat TEXT NOT NULL, message TEXT NOT NULL, row TEXT NOT NULL, UNIQUE (chat, message));
CREATE TABLE ledger (n INTEGER PRIMARY KEY, chat TEXT NOT NULL, message TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE queues (chat TEXT PRIMARY KEY, paused INTEGER NOT NULL, notes TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commands (n INTEGER PRIMARY KEY, command TEXT NOT NULL UNIQUE, row TEXT NOT NULL);
CREATE TABLE queue (chat TEXT NOT NULL, position INTEGER NOT NULL, message TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (chat, position)) WITHOUT ROWID;
CREATE TABLE journal (chat TEXT NOT NULL, seq INTEGER NOT NULL, era INTEGER NOT NULL, length INTEGER NOT NULL, crc32 INTEGER NOT NULL, event BLOB NOT NULL, PRIMARY KEY (chat, seq)) WITHOUT ROWID;
CREATE TABLE docs (doc TEXT PRIMARY KEY, chat TEXT NOT NULL, folded_seq INTEGER NOT NULL, snapshot BLOB NOT NULL);
CREATE TABLE doc_updates (doc TEXT NOT NULL, n INTEGER NOT NULL, folded_seq INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (doc, n)) WITHOUT ROWID;
CREATE TABLE blobs (key TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE prefs (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
";

/// An open database.
pub struct Store {
    connection: Connection,
}

impl Store {
    /// A database in memory, gone with the value.
    ///
    /// # Errors
    /// When SQLite refuses the schema.
    pub fn in_memory() -> Result<Self, StoreError> {
        Store::with(Connection::open_in_memory().map_err(|error| kind(&error))?)
    }

    /// The database at `path`, made when it is missing. An existing file is never replaced.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no database of this engine.
    pub fn open(path: &std::path::Path) -> Result<Self, StoreError> {
        Store::with(Connection::open(path).map_err(|error| kind(&error))?)
    }

    /// The database behind a connection that somebody else has opened, on a disk of their own for example. Nothing is written
    /// to a file before it is known to be empty or this engine's own, of this version.
    ///
    /// # Errors
    /// When the disk refuses, or it is no database of this engine, or one of another version.
    pub fn with(connection: Connection) -> Result<Self, StoreError> {
        let prepare = || -> rusqlite::Result<Result<(), StoreError>> {
            // Exclusive locking comes before WAL: then no shared memory file is needed.
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.busy_timeout(std::time::Duration::ZERO)?;
            let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
            let (version, application) = (number("user_version")?, number("application_id")?);
            let is_empty: bool = connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
            if !is_empty && application != APPLICATION_ID {
                return Ok(Err(StoreError::Corrupt));
            }
            if !is_empty && version != SCHEMA_VERSION {
                return Ok(Err(StoreError::Version { found: version }));
            }
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            if is_empty {
                // One transaction: a crash in the middle must not leave half a schema that the next start stumbles over.
                let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};");
                connection.execute_batch(&format!("BEGIN; {SCHEMA} {marks} COMMIT;"))?;
            }
            Ok(Ok(()))
        };
        prepare().map_err(|error| kind(&error))??;
        Ok(Store { connection })
    }

    /// Writes one transaction: all of it or nothing.
    ///
    /// # Errors
    /// The kind of the failure; nothing was written then.
    pub fn commit(&mut self, txn: &Txn) -> Result<(), StoreError> {
        self.write(txn).map_err(|error| kind(&error))
    }

    fn write(&mut self, txn: &Txn) -> rusqlite::Result<()> {
        let sql = self.connection.transaction()?;
        let run = |text: &str, values: &[&dyn rusqlite::ToSql]| sql.prepare_cached(text)?.execute(values).map(drop);
        for (key, value) in &txn.meta {
            run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", &[key, value])?;
        }
        for (chat, seq) in &txn.cuts {
            run("DELETE FROM journal WHERE chat = ? AND seq = ?", &[chat, seq])?;
        }
        for row in &txn.repairs {
            run("DELETE FROM journal WHERE chat = ? AND seq = ?", &[&row.chat_id, &int(row.seq)])?;
        }
        for row in txn.repairs.iter().chain(&txn.journal) {
            let event = serde_json::to_vec(&row.event).map_err(unwritable)?;
            let (length, crc) = (int(event.len() as u64), journal::crc(row.seq, &event));
            run(
                "INSERT INTO journal (chat, seq, era, length, crc32, event) VALUES (?, ?, ?, ?, ?, ?)",
                &[&row.chat_id, &int(row.seq), &int(row.era), &length, &crc, &event],
            )?;
        }
        for row in &txn.sessions {
            run("INSERT OR REPLACE INTO sessions (chat, row) VALUES (?, ?)", &[&row.chat_id, &json(row)?])?;
        }
        for row in &txn.chats {
            let text = "INSERT INTO chats (chat, row) VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET row = excluded.row";
            run(text, &[&row.chat_id, &json(row)?])?;
        }
        for spec in &txn.configs {
            let text = "INSERT INTO chats (chat, config) VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET config = excluded.config";
            run(text, &[&spec.chat, &json(spec)?])?;
        }
        for row in &txn.messages {
            // The place of a message is that of its first row.
            let text = "INSERT INTO messages (chat, message, row) VALUES (?, ?, ?) \
                        ON CONFLICT (chat, message) DO UPDATE SET row = excluded.row";
            run(text, &[&row.chat_id, &row.message_id, &json(row)?])?;
        }
        for (chat, message, text) in &txn.ledger {
            match text {
                Some(text) => run("INSERT INTO ledger (chat, message, text) VALUES (?, ?, ?)", &[chat, message, text])?,
                None => run("DELETE FROM ledger WHERE chat = ? AND message = ?", &[chat, message])?,
            }
        }
        for queue in &txn.queues {
            let chat = &queue.chat_id;
            let text = "INSERT OR REPLACE INTO queues (chat, paused, notes) VALUES (?, ?, ?)";
            run(text, &[chat, &queue.paused, &json(&queue.notes)?])?;
            run("DELETE FROM queue WHERE chat = ?", &[chat])?;
            for (position, message) in (0_i64..).zip(&queue.messages) {
                let text = "INSERT INTO queue (chat, position, message, text) VALUES (?, ?, ?, ?)";
                run(text, &[chat, &position, &message.id, &message.text])?;
            }
        }
        for doc in &txn.docs {
            write_doc(doc, run)?;
        }
        for row in &txn.commands {
            let text = "INSERT INTO commands (command, row) VALUES (?, ?) ON CONFLICT (command) DO UPDATE SET row = excluded.row";
            run(text, &[&row.command_id, &json(row)?])?;
        }
        for (key, value) in &txn.prefs {
            run("INSERT OR REPLACE INTO prefs (key, value) VALUES (?, ?)", &[key, value])?;
        }
        sql.commit()
    }
}

fn write_doc(doc: &DocWrite, run: impl Fn(&str, &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let seq = int(doc.folded_seq);
    if doc.kind == DocKind::Update {
        run("INSERT OR IGNORE INTO docs (doc, chat, folded_seq, snapshot) VALUES (?, ?, 0, x'')", &[&doc.doc_id, &doc.chat_id])?;
        return run(
            "INSERT INTO doc_updates (doc, n, folded_seq, bytes) \
             SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3 FROM doc_updates WHERE doc = ?1",
            &[&doc.doc_id, &seq, &doc.bytes],
        );
    }
    let (snapshot, blob): (&[u8], &[u8]) = if doc.kind == DocKind::Blob { (&[], &doc.bytes) } else { (&doc.bytes, &[]) };
    run(
        "INSERT OR REPLACE INTO docs (doc, chat, folded_seq, snapshot) VALUES (?, ?, ?, ?)",
        &[&doc.doc_id, &doc.chat_id, &seq, &snapshot],
    )?;
    run("DELETE FROM doc_updates WHERE doc = ?", &[&doc.doc_id])?;
    let key = blob_key(&doc.chat_id, &doc.doc_id);
    if blob.is_empty() {
        run("DELETE FROM blobs WHERE key = ?", &[&key])
    } else {
        run("INSERT OR REPLACE INTO blobs (key, bytes) VALUES (?, ?)", &[&key, &blob])
    }
}

/// SQLite counts in signed 64 bits; numbers of this engine stay far below.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// BUSY and FULL are told apart: one passes by itself, the other does not.
fn kind(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt,
        _ => StoreError::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{AgentEvent, DoneStatus},
        feed::JournalRow,
    };

    fn journal(seq: u64) -> JournalRow {
        let event =
            AgentEvent::Done { status: DoneStatus::Completed, result: None, error: None, session_id: None, synthetic: None };
        JournalRow { chat_id: "c".to_owned(), era: 1, seq, event }
    }

    #[test]
    fn a_transaction_is_written_whole_or_not_at_all() {
        let mut store = Store::in_memory().expect("in memory");
        let good = Txn { journal: vec![journal(1)], ..Txn::default() };
        assert_eq!(store.commit(&good), Ok(()));
        // The second row repeats number 1: the first row of the same transaction must not stay.
        let bad = Txn { journal: vec![journal(2), journal(1)], ..Txn::default() };
        assert!(store.commit(&bad).is_err());
        let rows: u32 = store.connection.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).expect("count");
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_and_kept() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("engine.sqlite");
        std::fs::write(&path, "this is not a database, it is somebody's notes").expect("write");
        assert_eq!(Store::open(&path).err(), Some(StoreError::Corrupt));
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "this is not a database, it is somebody's notes");
    }

    /// A database file with `rows` journal rows, and where it is.
    fn file(rows: u64) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("engine.sqlite");
        let mut store = Store::open(&path).expect("made");
        for seq in 1..=rows {
            store.commit(&Txn { journal: vec![journal(seq)], ..Txn::default() }).expect("written");
        }
        (dir, path)
    }

    fn sql(path: &std::path::Path, text: &str) {
        Connection::open(path).expect("opened").execute_batch(text).expect("done");
    }

    #[test]
    fn a_database_of_another_version_is_changed() {
        for (mark, refusal) in [
            ("PRAGMA user_version = 99", StoreError::Version { found: 99 }),
            ("PRAGMA user_version = 1", StoreError::Version { found: 1 }),
            ("PRAGMA application_id = 7", StoreError::Corrupt),
        ] {
            let (_dir, path) = file(1);
            sql(&path, mark);
            let before = std::fs::read(&path).expect("read");
            assert_eq!(Store::open(&path).err(), Some(refusal), "{mark}");
            assert_eq!(std::fs::read(&path).expect("read"), before, "{mark}: the file was changed");
        }
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("notes.sqlite");
        sql(&path, "CREATE TABLE notes (text)");
        assert_eq!(Store::open(&path).err(), Some(StoreError::Corrupt), "somebody else's database");
    }

    /// JR-01: rows as SQLite keeps them, and values of types that the engine never writes.
    #[test]
    fn a_damaged_row_keeps_the_database_from_being_read() {
        for damage in [
            "UPDATE journal SET crc32 = crc32 + 1 WHERE seq = 2",
            "UPDATE journal SET length = 'long' WHERE seq = 2",
            "UPDATE journal SET event = 7 WHERE seq = 2",
            "UPDATE journal SET event = x'ff00' WHERE seq = 2",
            "DELETE FROM journal WHERE seq = 2",
        ] {
            let (_dir, path) = file(3);
            sql(&path, damage);
            let stored = Store::open(&path).expect("opened").load().expect("read");
            let places: Vec<&Place> = stored.damage.iter().map(|damage| &damage.place).collect();
            assert_eq!(places, [&Place::JournalRow(2)], "{damage}");
            assert_eq!(stored.chats[0].journal.rows.len(), 3, "{damage}");
        }
        let (_dir, path) = file(3);
        sql(&path, "UPDATE journal SET crc32 = 0 WHERE seq = 3; INSERT INTO sessions VALUES ('c', 'no JSON')");
        let stored = Store::open(&path).expect("opened").load().expect("read");
        let places: Vec<&Place> = stored.damage.iter().map(|damage| &damage.place).collect();
        assert_eq!(places, [&Place::Session, &Place::JournalTail(3)]);
    }

    /// JR-01: a write-ahead log that ends anywhere gives the rows of a whole number of transactions, and never fewer than a
    /// shorter log does.
    #[test]
    fn a_log_cut_in_its_tail_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("engine.sqlite");
        let mut store = Store::open(&path).expect("made");
        for seq in 1..=4 {
            store.commit(&Txn { journal: vec![journal(seq)], ..Txn::default() }).expect("written");
        }
        // The files as a kill leaves them: the store is not closed.
        let main = std::fs::read(&path).expect("read");
        let log = std::fs::read(dir.path().join("engine.sqlite-wal")).expect("read");
        let mut most = 0;
        // The schema is in the log's beginning; the transactions are in its tail.
        for end in (log.len() - 5 * 4_120..=log.len()).step_by(103).chain([log.len()]) {
            let copy = tempfile::tempdir().expect("dir");
            let path = copy.path().join("engine.sqlite");
            std::fs::write(&path, &main).expect("write");
            std::fs::write(copy.path().join("engine.sqlite-wal"), &log[..end]).expect("write");
            let stored = Store::open(&path).expect("opened").load().expect("read");
            assert_eq!(stored.damage, [], "cut at {end}");
            let rows = stored.chats.first().map_or(0, |chat| chat.journal.rows.len());
            assert!(rows >= most, "cut at {end}: {rows} rows where a shorter log has {most}");
            most = rows;
        }
        assert_eq!(most, 4);
    }

    /// JR-02.
    #[test]
    fn a_viewer_of_an_older_era_gets_only_what_is_new() {
        let mut store = Store::in_memory().expect("in memory");
        let rows = |era: u64| JournalRow { era, ..journal(era + 2) };
        store.commit(&Txn { journal: vec![journal(1), journal(2), rows(1)], ..Txn::default() }).expect("written");
        let numbers = |store: &mut Store, era, after| {
            let rows = store.replay("c", era, after).expect("read");
            rows.iter().map(|row| row.seq).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&mut store, 1, 2), [3]);
        assert_eq!(numbers(&mut store, 1, 3), [0_u64; 0]);
        store.commit(&Txn { journal: vec![rows(2)], ..Txn::default() }).expect("written");
        assert_eq!(numbers(&mut store, 1, 3), [1, 2, 3, 4], "the era changed");
        assert_eq!(numbers(&mut store, 2, 3), [4]);
    }
}
