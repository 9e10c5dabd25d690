import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { Fault, FaultKind } from './faults.ts';
import { json, type Reply } from './http.ts';
import { reset, respond } from './respond.ts';

export interface Injection {
  readonly fault: Fault;
  readonly response: ServerResponse;
  /** Carries the operation out. */
  readonly apply: () => Promise<Reply>;
  /** Refuses in the format of the operation. */
  readonly refuse: (status: number) => Reply;
  readonly revoke: () => void;
  /** Resolves to false if the sandbox closes meanwhile. */
  readonly wait: (ms: number) => Promise<boolean>;
}

const GIGABYTE = 1_073_741_824;
const MEGABYTE = 1_048_576;
const UNAPPLIED = json(200, { success: true, orderId: '1', err: '', message: 'Spoilt answer.' });

// With these faults the operation is not carried out, unless `apply` says so.
const NOT_APPLIED = new Set<FaultKind>([
  'status',
  'reset-before',
  'hang',
  'revoke',
  'redirect',
  'html',
]);

/** Answers a call with the fault. */
export async function injectFault(injection: Injection): Promise<void> {
  const { fault, response, wait } = injection;
  if (fault.delayMs !== undefined && !(await wait(fault.delayMs))) return;
  const reply = appliesIt(fault) ? await injection.apply() : UNAPPLIED;
  if (response.destroyed) return;
  switch (fault.kind) {
    case 'delay':
      return respond(response, reply);
    case 'status':
      return respond(response, statusReply(injection));
    case 'revoke':
      injection.revoke();
      return respond(response, injection.refuse(401));
    case 'reset-before':
    case 'reset-after':
      return reset(response);
    case 'hang':
      return;
    case 'redirect':
      return respond(response, {
        status: fault.status ?? 302,
        body: '',
        headers: { location: '/sandbox/redirected', ...fault.headers },
      });
    case 'empty':
      return respond(response, { ...altered(fault, reply), body: '' });
    case 'garbage':
      return respond(response, { ...altered(fault, reply), body: '{"success": tru\u0000e, ]]' });
    case 'html':
      return respond(response, {
        status: fault.status ?? 200,
        body: '<!doctype html><title>Down for maintenance</title>',
        headers: { 'content-type': 'text/html', ...fault.headers },
      });
    case 'clock': {
      const date = new Date(Date.now() + (fault.shiftSeconds ?? 0) * 1000).toUTCString();
      return respond(response, { ...reply, headers: { ...reply.headers, date } });
    }
    case 'cut':
      return cut(response, altered(fault, reply));
    case 'cut-head':
      return cutHead(response);
    case 'oversize':
      return oversize(response, altered(fault, reply), fault.bytes ?? GIGABYTE);
    case 'gzip-bomb':
      return gzipBomb(response, altered(fault, reply), fault.bytes ?? GIGABYTE);
  }
}

function appliesIt({ kind, apply }: Fault): boolean {
  if (kind === 'reset-before') return false;
  return (
    kind === 'delay' ||
    kind === 'clock' ||
    kind === 'reset-after' ||
    (apply ?? !NOT_APPLIED.has(kind))
  );
}

function altered({ status, headers }: Fault, reply: Reply): Reply {
  const { 'content-encoding': _, ...own } = reply.headers ?? {};
  return { status: status ?? reply.status, body: reply.body, headers: { ...own, ...headers } };
}

function statusReply({ fault, refuse }: Injection): Reply {
  const { status = 500, body, headers = {} } = fault;
  if (body === undefined) return { ...refuse(status), headers };
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers };
}

/** Sends half the bytes of its Content-Length. */
function cut(response: ServerResponse, { status, body, headers }: Reply): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...typed(headers), 'content-length': bytes.length });
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.destroy());
}

function cutHead(response: ServerResponse): void {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nContent-Type: applica', () => socket.destroy());
}

async function oversize(response: ServerResponse, reply: Reply, bytes: number): Promise<void> {
  response.writeHead(reply.status, typed(reply.headers));
  // Back-pressure keeps the sandbox's own memory small. A caller that leaves ends it early.
  await pipeline(Readable.from(longText(bytes)), response).catch(() => {});
}

function* longText(bytes: number): Generator<string> {
  const chunk = 'a'.repeat(65_536);
  yield '["';
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
  yield '"]';
}

/** Gzip members may be concatenated, so a gigabyte of blanks costs a megabyte to send. */
function gzipBomb(response: ServerResponse, reply: Reply, bytes: number): void {
  const member = gzipSync(Buffer.alloc(MEGABYTE, ' '));
  const body = Buffer.concat([
    gzipSync('['),
    ...Array.from({ length: Math.ceil(bytes / MEGABYTE) }, () => member),
    gzipSync(']'),
  ]);
  respond(response, {
    ...reply,
    body,
    headers: { ...reply.headers, 'content-encoding': 'gzip' },
  });
}

function typed(headers: Reply['headers']) {
  return { 'content-type': 'application/json; charset=utf-8', ...headers };
}
