import { type ChildProcess, spawn } from 'node:child_process';
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
  | { readonly id?: number; readonly error: string };

type Remote = {
  [Name in keyof OrderRecords]: (
    ...args: Parameters<OrderRecords[Name]>
  ) => Promise<Awaited<ReturnType<OrderRecords[Name]>>>;
};

export interface RecordsProcessOptions {
  readonly max?: number;
  readonly maxPerAccount?: number;
  /** Largest size of a file, in blocks of 1 KiB. */
  readonly fileLimit?: number;
}

const child = fileURLToPath(new URL('records-child.ts', import.meta.url));

/** Order records in another process; rejects with its sentence where it could not open them. */
export async function startRecordsProcess(
  path: string,
  { max = 1_000_000, maxPerAccount = max, fileLimit }: RecordsProcessOptions = {},
) {
  const limit = fileLimit === undefined ? '' : `ulimit -S -f ${fileLimit};`;
  const process_: ChildProcess = spawn(
    'bash',
    [
      ...['-c', `${limit} exec "$@"`, 'bash', process.execPath, child],
      ...[path, String(max), String(maxPerAccount)],
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const warnings: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const open = Promise.withResolvers<void>();
  process_.on('message', (message: FromChild) => {
    if ('open' in message) open.resolve();
    else if ('warning' in message) warnings.push(message.warning);
    else if (message.id === undefined)
      open.reject(new Error('error' in message ? message.error : ''));
    else if ('error' in message) waiting.get(message.id)?.reject(new Error(message.error));
    else waiting.get(message.id)?.resolve(message.value);
  });
  const exited = once(process_, 'exit').then(() => {
    open.reject(new Error('the process has ended'));
    for (const { reject } of waiting.values()) reject(new Error('the process has ended'));
  });
  await open.promise;
  let asked = 0;
  const records = new Proxy({} as Remote, {
    get:
      (_, call) =>
      (...args: unknown[]) => {
        const id = asked++;
        const answer = Promise.withResolvers<unknown>();
        waiting.set(id, answer);
        process_.send({ id, call, args });
        return answer.promise;
      },
  });
  const kill = async () => {
    process_.kill('SIGKILL');
    await exited;
  };
  return { records, warnings, pid: process_.pid ?? 0, kill, [Symbol.asyncDispose]: kill };
}
