import { machineClock } from '../../../src/store/sqlite/machine-clock.ts';
import { OrderDatabase } from '../../../src/store/sqlite/order-database.ts';

/**
 * A process that opens the file as somebody who is not root, and prints what comes of it. Started as
 * `node order-opener.ts <file> <uid, or nothing>`.
 */
const [, , path = '', uid = ''] = process.argv;
// Not before the program is read: its files may be closed to others.
if (uid !== '') process.setuid?.(Number(uid));
try {
  new OrderDatabase({ path, max: 10, clock: machineClock, onWarn() {} }).close();
  process.stdout.write('opened');
} catch (error) {
  process.stdout.write(String(error));
}
