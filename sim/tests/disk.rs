//! A database with an engine's settings on the disk of a world, ended and failed at every moment there is.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use sim::world::disk::{Call, Disk, Image, Kind, Outcome, PowerLoss};

const PATH: &str = "engine-data/engine.sqlite";
const TRANSACTIONS: u32 = 20;

/// SQLite has one generator of random numbers a process: two threads in it at once would mix the salts of their logs, and here
/// images are compared byte by byte.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The engine's settings and a schema, whole or not there. A small log, so that checkpoints fall into the script.
fn prepare(disk: &Disk, synchronous: &str) -> rusqlite::Result<Connection> {
    let connection = disk.open(PATH)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "wal_autocheckpoint", 12)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    if connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0))? == 0 {
        let schema = "BEGIN; CREATE TABLE turns (turn INTEGER PRIMARY KEY, parts INTEGER NOT NULL);
            CREATE TABLE parts (turn INTEGER, part INTEGER, bytes BLOB, PRIMARY KEY (turn, part)) WITHOUT ROWID;
            CREATE TABLE total (parts INTEGER NOT NULL); INSERT INTO total VALUES (0); PRAGMA user_version = 1; COMMIT;";
        if let Err(error) = connection.execute_batch(schema) {
            drop(connection);
            return Err(error);
        }
    }
    Ok(connection)
}

/// What turn `turn` consists of: its parts with their lengths, from a few bytes to more than a page.
fn parts(turn: u32) -> Vec<(u32, u32)> {
    (1..=turn % 4 + 1).map(|part| (part, (turn * 977 + part * 431) % 5_000)).collect()
}

fn transact(connection: &mut Connection, turn: u32) -> rusqlite::Result<()> {
    let sql = connection.transaction()?;
    sql.execute("INSERT INTO turns VALUES (?, ?)", (turn, turn % 4 + 1))?;
    for (part, length) in parts(turn) {
        let bytes = vec![turn as u8; length as usize];
        sql.execute("INSERT INTO parts VALUES (?, ?, ?)", (turn, part, bytes))?;
        sql.execute("UPDATE total SET parts = parts + 1", ())?;
    }
    sql.commit()
}

/// How many turns are there: all of each, none of any other, or the difference in words.
fn turns(connection: &Connection) -> Result<u32, String> {
    let read = || -> rusqlite::Result<_> {
        let integrity: String = connection.query_row("PRAGMA integrity_check", (), |row| row.get(0))?;
        let turns: u32 = connection.query_row("SELECT count(*) FROM turns", (), |row| row.get(0))?;
        let total: u32 = connection.query_row("SELECT parts FROM total", (), |row| row.get(0))?;
        let mut found = connection.prepare("SELECT turn, part, bytes FROM parts ORDER BY turn, part")?;
        let found = found.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok((integrity, turns, total, found.collect::<rusqlite::Result<Vec<(u32, u32, Vec<u8>)>>>()?))
    };
    let (integrity, turns, total, found) = read().map_err(|error| format!("cannot be read: {error}"))?;
    if integrity != "ok" {
        return Err(integrity);
    }
    let expected: Vec<(u32, u32, Vec<u8>)> = (1..=turns)
        .flat_map(|turn| parts(turn).into_iter().map(move |(part, length)| (turn, part, vec![turn as u8; length as usize])))
        .collect();
    if found != expected || total as usize != expected.len() {
        return Err(format!(
            "{turns} turns, {total} parts by the total, {} parts found, {} belong there",
            found.len(),
            expected.len()
        ));
    }
    Ok(turns)
}

/// The script played on a disk. A failed step is tried again once more, as long as the disk answers at all.
struct Played {
    connection: Option<Connection>,
    committed: u32,
    errors: Vec<rusqlite::Error>,
}

fn play(disk: &Disk, synchronous: &str) -> Played {
    let mut played = Played { connection: None, committed: 0, errors: Vec::new() };
    let mut tries = 0;
    while played.committed < TRANSACTIONS && tries < 2 && !disk.is_fenced() {
        let outcome = match played.connection.as_mut() {
            None => prepare(disk, synchronous).map(|connection| played.connection = Some(connection)),
            Some(connection) => transact(connection, played.committed + 1).map(|()| played.committed += 1),
        };
        match outcome {
            Ok(()) => tries = 0,
            Err(error) => {
                tries += 1;
                played.errors.push(error);
            }
        }
    }
    played
}

/// The turns that whoever comes next finds on `disk`, and what it takes to go on from there: one more commit, which then outlives
/// a power loss.
fn found_next(disk: &Disk) -> Result<u32, String> {
    let mut connection = prepare(disk, "FULL").map_err(|error| format!("does not open: {error}"))?;
    let found = turns(&connection)?;
    transact(&mut connection, found + 1).map_err(|error| format!("takes no further commit: {error}"))?;
    let later = disk.restart_after(PowerLoss::default());
    let connection = prepare(&later, "FULL").map_err(|error| format!("does not open later: {error}"))?;
    if turns(&connection)? == found + 1 { Ok(found) } else { Err("the commit after it is gone".to_owned()) }
}

#[derive(Clone, Copy)]
enum Every {
    Call,
    Sync,
}

fn number_after(line: &str, word: &str) -> Option<u64> {
    line.split_whitespace().skip_while(|found| *found != word).nth(1)?.parse().ok()
}

/// Plays the script anew for every moment and every line of `ends`, and says what is wrong with what is found afterwards.
///
/// `power loss [torn N] [keep SEED]` and `kill` end the run there; `IOERR`, `FULL`, `BUSY` and `short write` fail the one call.
fn what_goes_wrong(every: Every, synchronous: &str, ends: &str) -> Vec<String> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let undisturbed = Disk::new(1);
    let whole = play(&undisturbed, synchronous);
    assert_eq!((whole.committed, whole.errors.len()), (TRANSACTIONS, 0), "the script alone");
    let moments = match every {
        Every::Call => undisturbed.calls(),
        Every::Sync => undisturbed.syncs(),
    };
    let log = undisturbed.take_log();
    let syncs = log.iter().filter(|call| call.kind.is_sync()).count() as u64;
    assert_eq!((log.len() as u64, syncs), (undisturbed.calls(), undisturbed.syncs()), "each call has its line");
    let mut wrong = Vec::new();
    for (line, moment) in ends
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .flat_map(|line| (1..=moments).map(move |moment| (line, moment)))
    {
        let disk = Disk::new(1);
        let arm = |outcome| match every {
            Every::Call => disk.arm(moment, outcome),
            Every::Sync => disk.arm_sync(moment, outcome),
        };
        let verdict = if line.starts_with("power loss") || line == "kill" {
            arm(Outcome::Kill);
            ended(&disk, synchronous, line)
        } else {
            let outcome = match line {
                "IOERR" => Outcome::IoError,
                "FULL" => Outcome::Full,
                "BUSY" => Outcome::Busy,
                "short write" => Outcome::ShortWrite,
                other => panic!("no end of a run: {other:?}"),
            };
            arm(outcome);
            failed(&disk, synchronous, outcome, &log[moment as usize - 1])
        };
        wrong.extend(verdict.err().map(|why| format!("{line} at {moment}: {why}")));
    }
    wrong
}

fn ended(disk: &Disk, synchronous: &str, line: &str) -> Result<(), String> {
    let Played { connection, committed, .. } = play(disk, synchronous);
    let loss = PowerLoss { torn: number_after(line, "torn"), keep_unsynced: number_after(line, "keep") };
    let before = (disk.image(), disk.crash(loss), disk.calls());
    drop(connection);
    if before != (disk.image(), disk.crash(loss), disk.calls()) {
        return Err("the dead connection reached the disk".to_owned());
    }
    let next = if line == "kill" { disk.restart() } else { Disk::from_image(&before.1, 2) };
    let found = found_next(&next)?;
    // The commit that was under way may have become durable before the end; nothing that was reported may be missing.
    if (committed..=committed + 1).contains(&found) { Ok(()) } else { Err(format!("{committed} reported, {found} found")) }
}

fn failed(disk: &Disk, synchronous: &str, outcome: Outcome, call: &Call) -> Result<(), String> {
    let Played { connection, committed, errors } = play(disk, synchronous);
    if committed != TRANSACTIONS {
        return Err(format!("{committed} committed, then {errors:?}"));
    }
    // Reading ahead and checkpoints are nobody's commit; a write to the log is.
    let must_be_told = outcome.can_happen_to(call.kind) && call.kind == Kind::Write && call.file.ends_with("-wal");
    if must_be_told && errors.len() != 1 {
        return Err(format!("{call}: {} errors reported", errors.len()));
    }
    let connection = connection.ok_or("no connection")?;
    if turns(&connection)? != TRANSACTIONS {
        return Err("a commit is missing".to_owned());
    }
    drop(connection);
    let found = found_next(disk)?;
    if found == TRANSACTIONS { Ok(()) } else { Err(format!("{found} found after a clean end")) }
}

fn check(every: Every, ends: &str) {
    let wrong = what_goes_wrong(every, "FULL", ends);
    assert!(wrong.is_empty(), "{} moments go wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_power_loss_at_a_sync_takes_no_reported_commit() {
    check(
        Every::Sync,
        "power loss
         power loss torn 0
         power loss torn 8
         power loss keep 1
         power loss keep 2 torn 3",
    );
}

#[test]
fn a_power_loss_at_any_call_takes_no_reported_commit() {
    check(
        Every::Call,
        "power loss
         power loss torn 1
         power loss keep 3
         power loss keep 4 torn 0
         power loss keep 5 torn 7",
    );
}

#[test]
fn a_killed_connection_reaches_nothing_any_more() {
    check(Every::Call, "kill");
}

#[test]
fn a_failed_call_is_reported_and_leaves_nothing_half() {
    check(
        Every::Call,
        "IOERR
         FULL
         BUSY
         short write",
    );
}

#[test]
fn a_disk_that_is_never_synced_does_lose_commits() {
    let wrong = what_goes_wrong(Every::Call, "OFF", "power loss\npower loss keep 1");
    assert!(wrong.iter().any(|why| why.contains("reported, ")), "{wrong:?}");
}

#[test]
fn a_full_disk_stays_full_until_it_heals() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::new(1);
    let mut connection = play(&disk, "FULL").connection.expect("the script alone");
    disk.arm_from(disk.calls() + 1, Outcome::Full);
    for _ in 0..3 {
        let error = transact(&mut connection, TRANSACTIONS + 1).expect_err("no room");
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DiskFull));
    }
    disk.heal();
    transact(&mut connection, TRANSACTIONS + 1).expect("room again");
    assert_eq!(turns(&connection), Ok(TRANSACTIONS + 1));
}

#[test]
fn a_second_connection_finds_the_database_taken() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::new(1);
    let first = play(&disk, "FULL").connection;
    let error = prepare(&disk, "FULL").expect_err("taken");
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy));
    drop(first);
    assert_eq!(turns(&prepare(&disk, "FULL").expect("free")), Ok(TRANSACTIONS));
}

/// Log and images of the script, with a run on another disk of the same process between any two of its steps.
fn traced(seed: u64, neighbour: Option<u64>) -> (Vec<String>, Image, Image) {
    let (disk, other) = (Disk::new(seed), neighbour.map(Disk::new));
    let mut mine = prepare(&disk, "FULL").expect("opens");
    let mut theirs = other.as_ref().map(|other| prepare(other, "FULL").expect("opens"));
    for turn in 1..=TRANSACTIONS {
        if let Some(theirs) = &mut theirs {
            transact(theirs, turn).expect("commits");
        }
        transact(&mut mine, turn).expect("commits");
    }
    assert_eq!(turns(&mine), Ok(TRANSACTIONS));
    drop(theirs);
    let log = disk.take_log().iter().map(ToString::to_string).collect();
    (log, disk.image(), disk.crash(PowerLoss::default()))
}

#[test]
fn two_disks_of_one_process_never_meet() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let alone = traced(7, None);
    assert_eq!(traced(7, None), alone, "the same seed, the same everything");
    assert_eq!(traced(7, Some(7)), alone, "beside its twin");
    assert_eq!(traced(7, Some(8)), alone, "beside a stranger");
    let (log, image, _) = traced(8, None);
    assert_eq!(log, alone.0, "another seed asks for the same");
    assert_ne!(image, alone.1, "but salts its log otherwise");
}

#[test]
fn a_template_is_not_touched_by_the_runs_that_start_from_it() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let template = Disk::new(1);
    drop(play(&template, "FULL").connection);
    let template = template.image();
    assert_eq!(template.files().map(|(path, _)| path).collect::<Vec<_>>(), [PATH], "a clean end leaves one file");
    let digest = template.digest();
    for seed in 1..=3 {
        assert_eq!(found_next(&Disk::from_image(&template, seed)), Ok(TRANSACTIONS));
    }
    assert_eq!(template.digest(), digest);
}

#[test]
fn the_clock_of_sql_is_the_clock_of_the_world() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::new(1);
    let connection = disk.open(PATH).expect("opens");
    disk.set_wall_ms(1_800_000_000_123);
    let now: String = connection.query_row("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')", (), |row| row.get(0)).expect("time");
    assert_eq!(now, "2027-01-15 08:00:00.123");
}
