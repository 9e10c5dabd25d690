import type { IncomingMessage } from 'node:http';

export function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () =>
    done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
  );
}
