import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { extendedSchema } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { postOf } from './slow-reader.ts';

const TIMES = 20;
let reads = 0;
let onRead = () => {};
const read = () => {
  reads += 1;
  onRead();
  return 'x';
};
const app = sharedApp(
  { SANDBOX_INSTRUMENTS: '500' },
  { schema: extendedSchema(['Instrument'], { counted: { sharing: null, read } }) },
);

const catalogs = Array.from({ length: TIMES }, (_, at) => {
  return `c${at}: catalog { instruments { countedText id name description calc delayed } }`;
}).join(' ');
const QUERY = `query Left { ${catalogs} }`;
const MUTATION = `mutation Left { login(input: { email: "demo@example.com", password: "demo" }) {
  ... on LoginSuccess { ${catalogs} }
} }`;

async function sendRaw(text: string, token: string) {
  const { socket } = await openRaw(app.url);
  onRead = () => void socket.destroy();
  socket.write(postOf(text, { token }));
}

async function subscribe(text: string, token: string) {
  const raw = await initializedSocket(app, token);
  onRead = () => raw.stream.destroy();
  raw.subscribe('1', text);
}

test.each([
  ['a query', QUERY, false, sendRaw],
  ['a mutation', MUTATION, true, sendRaw],
  ['a query of a WebSocket', QUERY, false, subscribe],
])(
  'of %s no more is made for a client that has left than has to be',
  async (_what, text, isMade, begin) => {
    const token = await app.signIn();
    reads = 0;
    await begin(text, token);
    await eventually(() => reads > 0);
    // The log tells at once that a client has left, and not when its answer has ended.
    let [seen, times] = [0, 0];
    await eventually(() => {
      times = reads === seen ? times + 1 : 0;
      seen = reads;
      return times === 20;
    });
    expect(reads === TIMES * 500).toBe(isMade);
  },
);
