import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OrderRecords } from '../../../src/store/order-records.ts';

export interface ToChild {
  readonly id: number;
  readonly call: keyof OrderRecords;
  readonly args: readonly unknown[];
}

export type FromChild =
  | { readonly open: true }
  | { readonly warning: string }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

type Remote = {
  [Name in keyof OrderRecords]: (
    ...args: Parameters<OrderRecords[Name]>
  ) => Promise<Awaited<ReturnType<OrderRecords[Name]>>>;
};

const program = fileURLToPath(new URL('records-child.ts', import.meta.url));

/** Order records in another process. `fileLimit`: the largest size of a file, in blocks of 1 KiB. */
export async function startRecordsProcess(path: string, fileLimit?: number) {
  const limit = fileLimit === undefined ? '' : `ulimit -S -f ${fileLimit};`;
  const command = ['-c', `${limit} exec "$@"`, 'bash', process.execPath, program, path];
  const child = spawn('bash', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const warnings: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const open = Promise.withResolvers<void>();
  child.on('message', (message: FromChild) => {
    if ('open' in message) open.resolve();
    else if ('warning' in message) warnings.push(message.warning);
    else if ('error' in message) waiting.get(message.id)?.reject(new Error(message.error));
    else waiting.get(message.id)?.resolve(message.value);
  });
  const exited = once(child, 'exit').then(() => {
    for (const { reject } of [open, ...waiting.values()]) reject(new Error('the process ended'));
  });
  await open.promise;
  const records = new Proxy({} as Remote, {
    get:
      (_, call) =>
      (...args: unknown[]) => {
        const answer = Promise.withResolvers<unknown>();
        const id = waiting.size;
        waiting.set(id, answer);
        child.send({ id, call, args });
        return answer.promise;
      },
  });
  return {
    records,
    warnings,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
