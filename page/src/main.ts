import { createApp } from './app.ts';
import { startConsole } from './panels/console.ts';
import { LineLog, startLivePositions } from './panels/live-positions.ts';
import { startOneScreen } from './panels/one-screen.ts';
import { startOrder } from './panels/order.ts';
import { startPendingOrders } from './panels/pending-orders.ts';
import { startSearchAndSync } from './panels/search-and-sync.ts';

const log = new LineLog();
const app = createApp(log);
startLivePositions(app, log);
startOrder(app);
startConsole(app);
// Browsers have six connections to a server: what is measured has them to itself.
await startOneScreen(app);
startSearchAndSync(app);
startPendingOrders(app);
app.calls.start();
