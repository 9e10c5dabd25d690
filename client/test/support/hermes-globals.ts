// Node's own may take a connection that `fetch` has left open.
import { WebSocket } from 'ws';

/** What React Native has on Hermes for a realm of its own: no `crypto`, no page, no streams. */
export function hermesGlobals(): object {
  const { setTimeout, clearTimeout, queueMicrotask, performance, console } = globalThis;
  const { AbortController, URLSearchParams } = globalThis;
  const timers = { setTimeout, clearTimeout, queueMicrotask, performance, console };
  return { ...timers, AbortController, URLSearchParams, WebSocket, fetch: fetchOfReactNative };
}

async function fetchOfReactNative(input: string, init?: RequestInit): Promise<object> {
  const answer = await fetch(input, init);
  const { ok, status, headers } = answer;
  return { ok, status, headers, text: () => answer.text(), json: () => answer.json() };
}
