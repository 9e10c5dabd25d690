import type { Commands } from '../cli/dispatch.ts';

/** The commands of the program, each loaded where it is run. They are listed here since nothing below imports the check. */
export const COMMANDS: Commands = {
  start: {
    summary: 'run the service',
    load: async () => (await import('../cli/start.ts')).startCommand,
  },
  sandbox: {
    summary: 'run the sandbox gateway alone',
    load: async () => {
      const { sandboxCommand } = await import('../cli/sandbox.ts');
      return sandboxCommand((await import('../sandbox/embedded.ts')).embeddedSandbox);
    },
  },
  check: {
    summary: 'check the configuration, and a gateway against the interface',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  schema: {
    summary: 'print the GraphQL schema',
    load: async () => (await import('../cli/schema.ts')).schemaCommand,
  },
  interface: {
    summary: 'print what a gateway has to answer, as OpenAPI 3.1',
    load: async () => (await import('./interface.ts')).interfaceCommand,
  },
  orders: {
    summary: 'look at the file of the order records, or say whether it is complete',
    load: async () => (await import('../cli/orders.ts')).ordersCommand,
  },
  hash: {
    summary: 'print what the log has in place of an account or an address',
    load: async () => (await import('../cli/hash.ts')).hashCommand,
  },
};
