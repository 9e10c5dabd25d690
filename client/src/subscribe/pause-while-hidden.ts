import type { Environment } from '../environment.ts';

export interface PauseListener {
  /** The app has been hidden for the time. */
  paused(): void;
  /** The app is shown again, or the network is back, whether it was paused or not. */
  returned(why?: 'online'): void;
}

/** Watches whether the app is visible; returns a function that stops it. */
export function pauseWhileHidden(
  environment: Environment,
  hiddenMs: number,
  listener: PauseListener,
): () => void {
  const { lifecycle } = environment;
  let cancel: (() => void) | null = null;
  const visible = () => {
    cancel?.();
    cancel = null;
  };
  const hidden = () => {
    cancel ??= environment.after(hiddenMs, () => {
      cancel = null;
      listener.paused();
    });
  };
  const endReturn = lifecycle.onReturn((why) => {
    // The network may come back while the app is hidden.
    if (!lifecycle.isVisible) return;
    visible();
    listener.returned(why);
  });
  const endHide = lifecycle.onHide(hidden);
  if (!lifecycle.isVisible) hidden();
  return () => {
    visible();
    endReturn();
    endHide();
  };
}
