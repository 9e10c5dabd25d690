import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-ports.ts';

/** A server of Prometheus' family that is ready, in a folder that has these files and is removed with it. */
export async function startServer(
  path: string,
  files: Readonly<Record<string, string>>,
  argumentsFor: (folder: string) => readonly string[],
): Promise<AsyncDisposable & { readonly url: string }> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-night-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const address = `127.0.0.1:${await freePort()}`;
  const options = [`--web.listen-address=${address}`, '--log.level=error'];
  const server = spawn(path, [...argumentsFor(folder), ...options], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(server, 'exit');
  started.defer(async () => {
    server.kill('SIGKILL');
    await exited;
  });
  const url = `http://${address}`;
  await eventually(async () => (await fetch(`${url}/-/ready`)).ok);
  const owned = started.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
