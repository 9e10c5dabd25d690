import type { DatabaseSync, StatementSync } from 'node:sqlite';
import * as rows from './order-rows.ts';

/** The statements that run for an order or a question; none may read more than its account's rows. */
export const SQL = {
  byKey:
    'SELECT CAST(id AS REAL) AS id FROM orders INDEXED BY orders_key WHERE login = ? AND key = ?',
  byHash: 'SELECT CAST(id AS REAL) AS id FROM orders INDEXED BY orders_hash WHERE keyHash = ?',
  byId: `${rows.SELECT_ROWS} WHERE id = ?`,
  account: `SELECT count(*) AS held, CAST(min(id) AS REAL) AS oldest
    FROM orders INDEXED BY orders_key WHERE login = ?`,
  // By the row id: the `id` that is selected is computed, and would be sorted, all rows for each order.
  oldest: `${rows.SELECT_ROWS} WHERE id > ? ORDER BY rowid LIMIT 1`,
  unindexed: `SELECT CAST(id AS REAL) AS id, login, key FROM orders AS one NOT INDEXED
    WHERE id BETWEEN ? AND ? AND (
      NOT EXISTS (SELECT 1 FROM orders AS other INDEXED BY orders_key
        WHERE other.login = one.login AND other.key = one.key AND other.rowid = one.rowid)
      OR NOT EXISTS (SELECT 1 FROM orders AS other INDEXED BY orders_hash
        WHERE other.keyHash = one.keyHash AND other.rowid = one.rowid))`,
  insert: `INSERT INTO orders VALUES (NULL, :login, :key, :keyHash, :reservation, :input, :pendingMs,
    :outcome, :at, :boot, :uptimeMs, :digest)`,
  settle: 'UPDATE orders SET outcome = ?, digest = ? WHERE id = ?',
  countFromNow: 'UPDATE orders SET boot = ?, uptimeMs = ?, digest = ? WHERE id = ?',
  delete: 'DELETE FROM orders WHERE id = ?',
};

/** As many as the rows, where no index has an entry too many or too few. */
export const SQL_ENTRIES = `SELECT (SELECT count(*) FROM orders NOT INDEXED) AS held,
  (SELECT count(*) FROM orders INDEXED BY orders_key) AS orders_key,
  (SELECT count(*) FROM orders INDEXED BY orders_hash) AS orders_hash`;

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function prepare(database: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared);
}
