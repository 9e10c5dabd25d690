import type { Environment, Lifecycle } from './environment.ts';
import { isOnline, platformFunctions } from './platform-functions.ts';

/** Makes the environment of browsers and of Node from the functions that the platform has. */
export function browserEnvironment(): Environment {
  return {
    ...platformFunctions(),
    WebSocket: hasSockets() ? globalThis.WebSocket : null,
    randomId,
    lifecycle: pageLifecycle(),
  };
}

/**
 * Whether the WebSocket works. Angular's server replaces the global `Event`, for which Node's sockets throw an error that
 * cannot be caught. AbortSignal, which Angular does not replace, refuses such an `Event` too: that is tested here.
 */
function hasSockets(): boolean {
  if (typeof globalThis.WebSocket !== 'function') return false;
  if (typeof window !== 'undefined') return true;
  try {
    return new AbortController().signal.dispatchEvent(new Event('open'));
  } catch {
    return false;
  }
}

function randomId(): string {
  if (typeof crypto === 'undefined') {
    throw new Error('This platform has no `crypto`: give `environment: { randomId }`.');
  }
  // Only pages of a secure origin have `randomUUID`.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  // The version of a random UUID is 4, and its variant may be 8.
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-');
}

function pageLifecycle(): Lifecycle {
  const page = typeof document === 'undefined' ? null : document;
  const isVisible = () => page?.visibilityState !== 'hidden';
  // React Native has a `window` that takes no listeners.
  const target = typeof globalThis.addEventListener === 'function' ? globalThis : null;
  return {
    get isVisible() {
      return isVisible();
    },
    get isOnline() {
      return isOnline();
    },
    onReturn(listener) {
      const shown = () => {
        if (isVisible()) listener();
      };
      // A normal load fires `pageshow` too, without `persisted`: it must not replace a connection that is opening.
      const restored = ({ persisted }: PageTransitionEvent) => {
        if (persisted) shown();
      };
      const online = () => listener('online');
      page?.addEventListener('visibilitychange', shown);
      target?.addEventListener('online', online);
      target?.addEventListener('pageshow', restored);
      return () => {
        page?.removeEventListener('visibilitychange', shown);
        target?.removeEventListener('online', online);
        target?.removeEventListener('pageshow', restored);
      };
    },
    onHide(listener) {
      const hidden = () => {
        if (!isVisible()) listener();
      };
      page?.addEventListener('visibilitychange', hidden);
      return () => page?.removeEventListener('visibilitychange', hidden);
    },
  };
}
