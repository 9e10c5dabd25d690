#!/usr/bin/env node
import { once } from 'node:events';
import { type Commands, dispatch } from './dispatch.ts';

const COMMANDS: Commands = {
  orders: {
    summary: 'look at the file of the order records, or say whether it is complete',
    load: async () => (await import('./orders.ts')).ordersCommand,
  },
  sandbox: {
    summary: 'run the sandbox gateway alone',
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
  },
};

process.exitCode = await dispatch(COMMANDS, process.argv.slice(2), {
  environment: process.env,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  stopped: async () => {
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  },
});
