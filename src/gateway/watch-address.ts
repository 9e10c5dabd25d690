import { connect, isIP } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Clock } from '../lib/clock.ts';

interface AddressWatch {
  readonly gatewayUrl: string;
  readonly clock: Clock;
  readonly onReachable: () => void;
  readonly onUnreachable: (reason: string) => void;
}

const PATIENCE_MS = 3_000;
const AGAIN_MS = 10_000;

/**
 * Tries to connect to the gateway's address, again and again until it is reached once: a name that
 * does not resolve, or a certificate that is not trusted, is otherwise seen only by the first users. Returns
 * a function that ends it.
 */
export function watchAddress(watch: AddressWatch): () => void {
  const { gatewayUrl, clock, onReachable, onUnreachable } = watch;
  const { hostname, port, protocol } = new URL(gatewayUrl);
  const isSecure = protocol === 'https:';
  const address = {
    // A URL has the brackets of an IPv6 address, a socket does not.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isSecure ? 443 : 80)),
  };
  let isEnded = false;
  let cancel = () => {};

  function attempt(): void {
    const socket = isSecure
      ? connectSecurely({ ...address, servername: isIP(address.host) ? '' : address.host })
      : connect(address);
    socket.unref();
    let isSettled = false;
    const settle = (reason: string | null) => {
      // A socket that is destroyed may still report an error.
      if (isSettled) return;
      isSettled = true;
      cancel();
      socket.destroy();
      if (isEnded) return;
      if (reason === null) onReachable();
      else {
        onUnreachable(reason);
        cancel = clock.after(AGAIN_MS, attempt);
      }
    };
    cancel = clock.after(PATIENCE_MS, () => settle('no connection in time'));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(null));
    socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  }

  attempt();
  return () => {
    isEnded = true;
    cancel();
  };
}
