import { expect, test } from 'vitest';
import { addressKey } from '../../../src/lib/limits/request-caller.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  // These only look like a mapped address.
  ['::ffff:1921', '0:0:0:0::/64'],
  ['1::ffff:127.0.0.1', '1:0:0:0::/64'],
  ['::127.0.0.1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('the key of %s is %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
