import { createApp } from './app.ts';
import { startConsole } from './panels/console.ts';
import { LineLog, startLiveAccount } from './panels/live-account.ts';
import { startOneScreen } from './panels/one-screen.ts';
import { startOrder } from './panels/order.ts';
import { startPendingOrders } from './panels/pending-orders.ts';
import { startSearchAndSync } from './panels/search-and-sync.ts';
import { startStanding } from './standing.ts';

const log = new LineLog();
const app = createApp(log);
startStanding(app, (text) => log.note(text));
startLiveAccount(app, log);
startOrder(app);
startConsole(app);
app.calls.start();
// Browsers have six connections to a server: what is measured has all but the monitor's to itself.
await startOneScreen(app);
startSearchAndSync(app);
startPendingOrders(app);
