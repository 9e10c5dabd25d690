import { line, type SceneRow } from '../scene.ts';

/** Redis, and the disk. */
export const STORE_SCENES: readonly SceneRow[] = [
  {
    title: 'Redis is away',
    alerts: ['TradingGraphStoreAway'],
    lines: [line('Redis cannot be reached')],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.kill(),
    end: async ({ redis }) => redis?.start(),
  },
  {
    title: 'Redis hangs',
    alerts: ['TradingGraphStoreAway'],
    lines: [line('Redis cannot be reached')],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.signal('SIGSTOP'),
    end: async ({ redis }) => redis?.signal('SIGCONT'),
  },
  {
    title: 'Redis is full',
    alerts: ['TradingGraphStoreAway'],
    lines: [line('Redis refuses commands', '"reason":"OOM"')],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.command('CONFIG', 'SET', 'maxmemory', 1),
    end: async ({ redis }) => redis?.command('CONFIG', 'SET', 'maxmemory', 0),
  },
  {
    title: 'Redis is read-only, a replica since a failover',
    alerts: ['TradingGraphStoreAway'],
    lines: [line('Redis refuses commands', '"reason":"READONLY"')],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.command('REPLICAOF', '127.0.0.1', 1),
    end: async ({ redis }) => redis?.command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    title: 'The disk of the order file is full',
    needs: 'small disk',
    alerts: ['TradingGraphStoreAway'],
    lines: [line('orders.db cannot grow')],
    reasons: ['order-store'],
    begin: async ({ disk }) => disk?.fill(),
    end: async ({ disk }) => disk?.free(),
  },
];
