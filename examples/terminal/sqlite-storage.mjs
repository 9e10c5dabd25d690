import { DatabaseSync } from 'node:sqlite';

/** Keeps the keys of orders in an SQLite file, so that they outlive the program. A text is on the disk when `set` resolves. */
export function sqliteStorage(file) {
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT) STRICT',
  );
  const get = database.prepare('SELECT text FROM texts WHERE key = ?');
  const set = database.prepare('INSERT OR REPLACE INTO texts VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM texts WHERE key = ?');
  const all = database.prepare('SELECT key FROM texts');
  return {
    get: async (key) => get.get(key)?.text ?? null,
    set: async (key, text) => void set.run(key, text),
    delete: async (key) => void remove.run(key),
    keys: async (prefix) =>
      all
        .all()
        .map(({ key }) => key)
        .filter((key) => key.startsWith(prefix)),
  };
}
