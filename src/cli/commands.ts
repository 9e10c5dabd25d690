import type { Commands } from './dispatch.ts';

/** The commands of the program. Each is loaded only when it runs. */
export const COMMANDS: Commands = {
  start: {
    summary: 'run the service',
    load: async () => (await import('./start.ts')).startCommand,
  },
  sandbox: {
    summary: 'run the sandbox gateway alone',
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
  },
  check: {
    summary: 'check the configuration, and a gateway against the interface',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  schema: {
    summary: 'print the GraphQL schema',
    load: async () => (await import('./schema.ts')).schemaCommand,
  },
  interface: {
    summary: 'print what a gateway has to answer, as OpenAPI 3.1',
    load: async () => (await import('./interface.ts')).interfaceCommand,
  },
  orders: {
    summary: 'read and settle order records, and hold orders',
    load: async () => (await import('./orders.ts')).ordersCommand,
  },
  hash: {
    summary: 'print the hash that the log has of an account, an address or a key',
    load: async () => (await import('./hash.ts')).hashCommand,
  },
};
