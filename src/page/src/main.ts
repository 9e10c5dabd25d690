import { announce } from './announce.ts';
import { createApp } from './app.ts';
import { find, setText } from './dom.ts';
import { onClick } from './on-click.ts';
import { startLiveAccount } from './panels/live-account.ts';
import { startLostLine } from './panels/lost-line.ts';
import { startOneScreen } from './panels/one-screen.ts';
import { startOrder } from './panels/order.ts';
import { startOutages } from './panels/outage.ts';

startPage().catch((error: Error) => {
  // Without this message, a browser that allows no storage would show a page that waits forever.
  const bar = find('standing', HTMLElement);
  bar.hidden = false;
  setText(bar, `This page cannot start: ${error.message}`);
  throw error;
});

async function startPage(): Promise<void> {
  const app = createApp();
  const user = new URLSearchParams({ user: app.email });
  find('graphiql-link', HTMLAnchorElement).href = `graphql?${user}`;
  setText(find('who', HTMLElement), app.email);
  const copy = find('command-copy', HTMLButtonElement);
  onClick(copy, async () => {
    // A browser offers the clipboard only over HTTPS.
    await navigator.clipboard.writeText(find('command', HTMLElement).textContent);
    setText(copy, 'Copied');
    announce('Copied');
  });
  const screen = startOneScreen(app);
  startLiveAccount(app);
  startOutages(screen);
  startLostLine(app);
  startOrder(app);
}
