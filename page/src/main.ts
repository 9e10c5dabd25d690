import { createApp } from './app.ts';
import { copyOnClick } from './code-box.ts';
import { find, setText } from './dom.ts';
import { startLanes } from './lanes/lanes.ts';
import { LookBack } from './look-back.ts';
import { pause } from './network.ts';
import { startConsole } from './panels/console.ts';
import { LineLog, startLiveAccount } from './panels/live-account.ts';
import { startLostLine } from './panels/lost-line.ts';
import { startOneScreen } from './panels/one-screen.ts';
import { startOrder } from './panels/order.ts';
import { startPendingOrders } from './panels/pending-orders.ts';
import { startSearchAndSync } from './panels/search-and-sync.ts';
import { startStanding } from './standing.ts';

const SLOW_MS = 5_000;

startPage().catch((error: Error) => {
  // Else a browser that allows no storage would show a page that waits for ever.
  const bar = find('standing', HTMLElement);
  bar.hidden = false;
  setText(bar, `This page cannot start: ${error.message}`);
  throw error;
});

async function startPage(): Promise<void> {
  const log = new LineLog();
  const app = createApp(log);
  const past = new LookBack(app);
  const isWide = matchMedia('(width >= 62.5em)').matches;
  find('order-box', HTMLDetailsElement).open = isWide;
  const command = find('command', HTMLElement);
  copyOnClick(find('command-copy', HTMLButtonElement), () => command.textContent);
  startLanes(app, past);
  // What the first measurement waits for is on its way while the panels are drawn.
  void app.session.token({ force: false }).catch(() => {});
  // Browsers have six connections to a server: what is measured has them to itself, unless it takes too long.
  const screen = startOneScreen(app);
  const measured = Promise.race([screen.first, pause(SLOW_MS)]);
  startStanding(app, (text) => log.note(text));
  startLiveAccount(app, past, log);
  startConsole(app, screen);
  startLostLine(app);
  startOrder(app, measured);
  await measured;
  app.calls.start();
  startSearchAndSync(app);
  startPendingOrders(app);
}
