import type { Commands } from './dispatch.ts';

/** The commands of the program, each loaded where it is run. */
export const COMMANDS: Commands = {
  start: {
    summary: 'run the service',
    load: async () => (await import('./start.ts')).startCommand,
  },
  dev: {
    summary: 'run the service, and start it anew when an extension is saved',
    load: async () => (await import('./dev.ts')).devCommand,
  },
  sandbox: {
    summary: 'run the sandbox gateway alone',
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
  },
  check: {
    summary: 'check the configuration, and a gateway against the interface',
    load: async () => (await import('../../check/check.ts')).checkCommand,
  },
  schema: {
    summary: 'print the GraphQL schema',
    load: async () => (await import('./schema.ts')).schemaCommand,
  },
  interface: {
    summary: 'print what a gateway has to answer, as OpenAPI 3.1',
    load: async () => (await import('../../check/interface.ts')).interfaceCommand,
  },
  documents: {
    summary: 'check trusted documents: validity, cost, deprecated and unused fields',
    load: async () => (await import('../../check/documents.ts')).documentsCommand,
  },
  orders: {
    summary: 'look at the file of the order records, or say whether it is complete',
    load: async () => (await import('./orders.ts')).ordersCommand,
  },
  hash: {
    summary: 'print what the log has in place of an account or an address',
    load: async () => (await import('./hash.ts')).hashCommand,
  },
};
