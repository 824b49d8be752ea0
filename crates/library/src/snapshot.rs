//! What readers share with the writer: summaries of all games, visible runs and postings that are not in a run yet.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use readyok_rules::record::MaterialSignature;
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::error::{Error, LibraryDefect};
use crate::index::Run;
use crate::postings::{Key, Posting};
use crate::schema;
use crate::summary::{DIGEST_SIZE, Digest, REST_SIZE, Raw, SIZE, Summary, split};
use crate::text_cache::Caches;

/// Number of summaries in a chunk: one row of the table `summaries`.
pub(crate) const CHUNK: usize = 4096;

#[derive(Debug, Clone, Default)]
struct Chunk {
    digests: Vec<Digest>,
    /// The rests of the summaries of the same games.
    rests: Vec<[u8; REST_SIZE]>,
}

impl Chunk {
    fn len(&self) -> usize {
        self.digests.len()
    }

    fn resize(&mut self, len: usize) {
        self.digests.resize(len, Digest::default());
        self.rests.resize(len, [0; REST_SIZE]);
    }
}

/// Summaries by game number. Clones share their chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Summaries {
    /// All but the last have [`CHUNK`] slots.
    chunks: Vec<Arc<Chunk>>,
}

impl Summaries {
    /// One more than the largest game number.
    pub(crate) fn len(&self) -> usize {
        let last = self.chunks.last().map_or(0, |chunk| chunk.len());
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    /// The summary of an existing game.
    pub(crate) fn get(&self, game: u32) -> Option<Summary> {
        self.raw(game).map(Raw::summary)
    }

    /// The stored summary of an existing game.
    #[inline]
    pub(crate) fn raw(&self, game: u32) -> Option<Raw<'_>> {
        let at = game as usize;
        let chunk = self.chunks.get(at / CHUNK)?;
        let (digest, rest) = (chunk.digests.get(at % CHUNK)?, chunk.rests.get(at % CHUNK)?);
        Some(Raw::new(*digest, rest)).filter(|summary| summary.exists())
    }

    /// The digest of an existing game.
    #[inline]
    pub(crate) fn digest(&self, game: u32) -> Option<Digest> {
        let at = game as usize;
        let digest = *self.chunks.get(at / CHUNK)?.digests.get(at % CHUNK)?;
        Some(digest).filter(|digest| digest.exists())
    }

    /// Sets a summary. Missing slots before it become empty.
    pub(crate) fn set(&mut self, game: u32, bytes: [u8; SIZE]) {
        let at = game as usize;
        while self.chunks.len() <= at / CHUNK {
            if let Some(last) = self.chunks.last_mut() {
                Arc::make_mut(last).resize(CHUNK);
            }
            self.chunks.push(Arc::default());
        }
        if let Some(chunk) = self.chunks.get_mut(at / CHUNK) {
            let chunk = Arc::make_mut(chunk);
            if chunk.len() <= at % CHUNK {
                chunk.resize(at % CHUNK + 1);
            }
            (chunk.digests[at % CHUNK], chunk.rests[at % CHUNK]) = split(&bytes);
        }
    }

    /// Existing games in descending order of their numbers.
    pub(crate) fn iter_rev(&self) -> impl Iterator<Item = (u32, Raw<'_>)> {
        let chunks = self.chunks.iter().enumerate().rev();
        chunks.flat_map(|(index, chunk)| {
            let summaries = chunk.digests.iter().zip(&chunk.rests).enumerate().rev();
            summaries.filter_map(move |(slot, (digest, rest))| {
                let game = u32::try_from(index * CHUNK + slot).ok()?;
                Some((game, Raw::new(*digest, rest))).filter(|(_, summary)| summary.exists())
            })
        })
    }

    /// Numbers without a game.
    pub(crate) fn deleted(&self) -> BitSet {
        let mut deleted = BitSet::default();
        for (game, digest) in (0..).zip(self.chunks.iter().flat_map(|chunk| &chunk.digests)) {
            // No game has the number 0.
            if game > 0 && !digest.exists() {
                deleted.insert(game);
            }
        }
        deleted
    }

    /// The bytes of a complete chunk: its digests, and the rests of its summaries.
    pub(crate) fn complete_chunk(&self, no: usize) -> Option<Vec<u8>> {
        let chunk = self.chunks.get(no).filter(|chunk| chunk.len() == CHUNK)?;
        let mut bytes = Vec::with_capacity(CHUNK * SIZE);
        bytes.extend(chunk.digests.iter().flat_map(|digest| digest.to_bytes()));
        bytes.extend_from_slice(chunk.rests.as_flattened());
        Some(bytes)
    }

    pub(crate) fn push_chunk(&mut self, data: &[u8]) -> Result<(), Error> {
        let (digests, rests) = data
            .split_at_checked(CHUNK * DIGEST_SIZE)
            .ok_or(Error::Defect(LibraryDefect::LibraryDamaged))?;
        let (rests, rest) = rests.as_chunks::<REST_SIZE>();
        if rests.len() != CHUNK || !rest.is_empty() {
            return Err(Error::Defect(LibraryDefect::LibraryDamaged));
        }
        let (digests, _) = digests.as_chunks::<DIGEST_SIZE>();
        let digests = digests.iter().map(|digest| Digest::from_bytes(*digest)).collect();
        self.chunks.push(Arc::new(Chunk { digests, rests: rests.to_vec() }));
        Ok(())
    }
}

/// The state after a transaction of the writer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// Number of the transaction; equals `meta.generation` of the same state of the file.
    pub(crate) generation: i64,
    pub(crate) summaries: Summaries,
    pub(crate) runs: Arc<[Run]>,
    /// Sorted postings of recent games.
    pub(crate) pending: Vec<Arc<[Posting]>>,
}

impl Snapshot {
    /// The state of the file, without postings that are only in the memory of a writer. The connection has a
    /// transaction, or the right to write.
    pub(crate) fn load(connection: &Connection) -> Result<Self, Error> {
        let generation = schema::meta(connection, "generation")?;
        let mut summaries = Summaries::default();
        let mut chunks = connection.prepare_cached("SELECT data FROM summaries ORDER BY no")?;
        let mut rows = chunks.query([])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(0)?.as_blob();
            summaries
                .push_chunk(data.map_err(|_| Error::Defect(LibraryDefect::LibraryDamaged))?)?;
        }
        let mut tail = connection.prepare_cached("SELECT id, summary FROM game WHERE id >= ?1")?;
        let mut rows = tail.query([i64::try_from(summaries.len()).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            summaries.set(row.get(0)?, row.get::<_, [u8; SIZE]>(1)?);
        }
        let runs = crate::index::runs(connection)?.into();
        Ok(Self { generation, summaries, runs, pending: Vec::new() })
    }

    /// Calls `visit` with move and game of each posting of a key; games can be deleted ones.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        key: Key,
        mut visit: impl FnMut(u16, u32),
    ) -> Result<(), Error> {
        crate::index::find(connection, &self.runs, key, &mut visit)?;
        for batch in &self.pending {
            let from = batch.partition_point(|posting| posting.key() < key);
            for posting in batch[from..].iter().take_while(|posting| posting.key() == key) {
                visit(posting.mv(), posting.game());
            }
        }
        Ok(())
    }

    /// Calls `visit` with the material of each indexed game and its [`material_run`](crate::codec::cursor::material_run);
    /// games can be deleted ones.
    pub(crate) fn scan_material(
        &self,
        connection: &Connection,
        mut visit: impl FnMut(MaterialSignature, u16, u32),
    ) -> Result<(), Error> {
        let mut visit = |key: Key, run, game| {
            if let Some(material) = key.material() {
                visit(material, run, game);
            }
        };
        let from = Key::first_material();
        crate::index::scan(connection, &self.runs, from, &mut visit)?;
        for batch in &self.pending {
            let first = batch.partition_point(|posting| posting.key() < from);
            batch[first..].iter().for_each(|it| visit(it.key(), it.mv(), it.game()));
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    snapshot: RwLock<Arc<Snapshot>>,
    idle: Mutex<Vec<Connection>>,
    pub(crate) caches: Caches,
    /// Ends [`Self::preload`].
    pub(crate) closing: AtomicBool,
    /// Games that the app has open, each with how often.
    pub(crate) open: Mutex<BTreeMap<u32, u32>>,
    /// Held by the writer while it has the right to write: the file differs from the snapshot only for a moment then.
    pub(crate) writing: Mutex<()>,
    /// The file has games of another process whose postings are missing.
    pub(crate) lacks_postings: AtomicBool,
}

impl Shared {
    pub(crate) fn new(path: PathBuf, snapshot: Snapshot) -> Self {
        let snapshot = RwLock::new(Arc::new(snapshot));
        let (idle, caches, closing, open) = Default::default();
        let (writing, lacks_postings) = Default::default();
        Self { path, snapshot, idle, caches, closing, open, writing, lacks_postings }
    }

    pub(crate) fn is_open(&self, game: u32) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&game)
    }

    /// Reads the indexes that searches scan, which brings them into the system's cache.
    pub(crate) fn preload(&self) -> Result<(), Error> {
        self.read(|connection, _| {
            for table in ["name", "opening"] {
                let sql = format!("SELECT folded FROM {table} ORDER BY folded");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() && !self.closing.load(Ordering::Relaxed) {}
            }
            Ok(())
        })
    }

    pub(crate) fn publish(&self, snapshot: Snapshot) {
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a query on one state of the file and of the memory.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection, &Snapshot) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| schema::open_reader(&self.path), Ok)?;
        let result = self.read_with(&connection, query);
        if result.is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < 4 {
                idle.push(connection);
            }
        }
        result
    }

    fn read_with<T>(
        &self,
        connection: &Connection,
        query: impl FnOnce(&Connection, &Snapshot) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let transaction = connection.unchecked_transaction()?;
            // The first read begins the snapshot of the file.
            let generation = schema::meta(&transaction, "generation")?;
            let mut snapshot = self.snapshot();
            if snapshot.generation != generation
                && let Some(loaded) = self.load_foreign(&transaction, generation)?
            {
                snapshot = loaded;
            }
            if snapshot.generation == generation {
                let result = query(&transaction, &snapshot)?;
                transaction.finish()?;
                return Ok(result);
            }
            // The writer has committed and not published yet, or published in between.
            transaction.finish()?;
            std::thread::yield_now();
        }
    }

    /// Publishes and returns the state of a transaction if another process has written it.
    fn load_foreign(
        &self,
        transaction: &Connection,
        generation: i64,
    ) -> Result<Option<Arc<Snapshot>>, Error> {
        let _writing = match self.writing.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if self.snapshot().generation >= generation {
            return Ok(None);
        }
        let snapshot = Snapshot::load(transaction)?;
        let sql = "SELECT EXISTS (SELECT 1 FROM unindexed) OR EXISTS (SELECT 1 FROM game
                   WHERE id >= (SELECT value FROM meta WHERE name = 'indexed'))";
        if transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))? {
            self.lacks_postings.store(true, Ordering::Relaxed);
        }
        self.publish(snapshot);
        Ok(Some(self.snapshot()))
    }
}
