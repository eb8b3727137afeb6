//! The one database of an engine: rows with one writer, the core, by store effects.

use rusqlite::{Connection, ErrorCode, params};

use crate::core::{effect::Txn, input::StoreError};

/// Version of the schema, kept in the database's `user_version`.
pub const SCHEMA_VERSION: u32 = 1;

const SCHEMA: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chats (chat TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (chat TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE messages (chat TEXT NOT NULL, message TEXT NOT NULL, row TEXT NOT NULL, PRIMARY KEY (chat, message)) WITHOUT ROWID;
CREATE TABLE ledger (chat TEXT NOT NULL, n INTEGER PRIMARY KEY, message TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE journal (chat TEXT NOT NULL, era INTEGER NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (chat, era, seq)) WITHOUT ROWID;
CREATE TABLE docs (doc TEXT PRIMARY KEY, chat TEXT NOT NULL, folded_seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE doc_updates (doc TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (doc, n)) WITHOUT ROWID;
CREATE TABLE blobs (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
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

    /// The database behind a connection that somebody else has opened, on a disk of their own for example.
    ///
    /// # Errors
    /// When the disk refuses, or it is no database of this engine.
    pub fn with(connection: Connection) -> Result<Self, StoreError> {
        let prepare = || -> rusqlite::Result<()> {
            // Exclusive locking comes before WAL: then no shared memory file is needed.
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.busy_timeout(std::time::Duration::ZERO)?;
            let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == 0 {
                // One transaction: a crash in the middle must not leave half a schema that the next start stumbles over.
                connection.execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"))?;
            }
            Ok(())
        };
        prepare().map_err(|error| kind(&error))?;
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
        for row in &txn.journal {
            sql.prepare_cached("INSERT INTO journal (chat, era, seq, event) VALUES (?, ?, ?, ?)")?.execute(params![
                row.chat_id,
                int(row.era),
                int(row.seq),
                json(&row.event)?
            ])?;
        }
        for row in &txn.sessions {
            sql.prepare_cached("INSERT OR REPLACE INTO sessions (chat, row) VALUES (?, ?)")?
                .execute(params![row.chat_id, json(row)?])?;
        }
        for row in &txn.chats {
            sql.prepare_cached("INSERT OR REPLACE INTO chats (chat, row) VALUES (?, ?)")?
                .execute(params![row.chat_id, json(row)?])?;
        }
        for row in &txn.messages {
            sql.prepare_cached("INSERT OR REPLACE INTO messages (chat, message, row) VALUES (?, ?, ?)")?.execute(params![
                row.chat_id,
                row.message_id,
                json(row)?
            ])?;
        }
        for (chat, message, text) in &txn.ledger {
            match text {
                Some(text) => sql
                    .prepare_cached("INSERT INTO ledger (chat, message, text) VALUES (?, ?, ?)")?
                    .execute(params![chat, message, text])?,
                None => {
                    sql.prepare_cached("DELETE FROM ledger WHERE chat = ? AND message = ?")?.execute(params![chat, message])?
                }
            };
        }
        for doc in &txn.docs {
            sql.prepare_cached("INSERT OR REPLACE INTO docs (doc, chat, folded_seq) VALUES (?, ?, ?)")?.execute(params![
                doc.doc_id,
                doc.chat_id,
                int(doc.folded_seq)
            ])?;
            sql.prepare_cached(
                "INSERT INTO doc_updates (doc, n, bytes) SELECT ?1, coalesce(max(n), 0) + 1, ?2 FROM doc_updates WHERE doc = ?1",
            )?
            .execute(params![doc.doc_id, doc.bytes])?;
        }
        for (key, bytes) in &txn.blobs {
            sql.prepare_cached("INSERT OR REPLACE INTO blobs (key, bytes) VALUES (?, ?)")?.execute(params![key, bytes])?;
        }
        sql.commit()
    }
}

/// SQLite counts in signed 64 bits; numbers of this engine stay far below.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
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
}
