import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { eventually } from './eventually.ts';

const LISTENING = /WebDriver BiDi listening on (ws:\/\/\S+)/;

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly message?: string;
  readonly result?: unknown;
}

/** A headless Firefox with a new profile, controlled by WebDriver BiDi. */
export async function startFirefox(executablePath: string) {
  await using started = new AsyncDisposableStack();
  const profile = await mkdtemp(join(tmpdir(), 'firefox-'));
  started.defer(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile];
  const browser = spawn(executablePath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const isOver = once(browser, 'exit');
  started.defer(async () => {
    browser.kill();
    await isOver;
  });
  let url: string | undefined;
  for await (const line of createInterface(browser.stderr)) {
    url = LISTENING.exec(line)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error('Firefox printed no address for WebDriver BiDi.');
  browser.stderr.resume();
  const socket = new WebSocket(`${url}/session`);
  started.defer(() => socket.terminate());
  await once(socket, 'open');

  const problems: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<Reply>>();
  socket.on('message', (data) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.resolve(reply);
    else if (reply.params?.level === 'error') problems.push(String(reply.params.text));
  });
  async function command<Result>(method: string, params: object): Promise<Result> {
    // No entry is ever removed, so each id is new.
    const id = waiting.size + 1;
    const reply = Promise.withResolvers<Reply>();
    waiting.set(id, reply);
    socket.send(JSON.stringify({ id, method, params }));
    const { result, message } = await reply.promise;
    if (result === undefined) throw new Error(`${method}: ${message}`);
    return result as Result;
  }

  await command('session.new', { capabilities: {} });
  await command('session.subscribe', { events: ['log.entryAdded'] });
  const { context } = await command<{ context: string }>('browsingContext.create', { type: 'tab' });
  /** The value of an expression in the page. */
  async function value(expression: string): Promise<unknown> {
    const { result } = await command<{ result: { readonly value?: unknown } }>('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true,
    });
    return result.value;
  }
  const parts = started.move();
  return {
    /** The errors in the page's console, and its uncaught errors. */
    problems,
    value,
    async goto(address: string) {
      // A page that is left reports lost connections, so its problems are removed before the new page is opened.
      for (const url of ['about:blank', address]) {
        problems.splice(0);
        await command('browsingContext.navigate', { context, url, wait: 'complete' });
      }
    },
    resize: (viewport: { readonly width: number; readonly height: number }) =>
      command('browsingContext.setViewport', { context, viewport }),
    /** Waits until an expression is true in the page. */
    holds: (expression: string) =>
      eventually(async () => (await value(`Boolean(${expression})`)) === true),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
