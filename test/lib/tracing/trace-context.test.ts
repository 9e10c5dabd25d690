import { describe, expect, test } from 'vitest';
import {
  readBaggage,
  readTraceContext,
  traceparentOf,
} from '../../../src/lib/tracing/trace-context.ts';
import { cpuOf } from '../../support/cpu.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const VALID = `00-${TRACE_ID}-${PARENT_ID}-01`;

describe('traceparent', () => {
  test.each([
    [VALID, true, false, VALID],
    [`00-${TRACE_ID}-${PARENT_ID}-00`, false, false, `00-${TRACE_ID}-${PARENT_ID}-00`],
    [`00-${TRACE_ID}-${PARENT_ID}-02`, false, true, `00-${TRACE_ID}-${PARENT_ID}-02`],
    // Flags of a later version are not sent on.
    [`00-${TRACE_ID}-${PARENT_ID}-ff`, true, true, `00-${TRACE_ID}-${PARENT_ID}-03`],
    [`cc-${TRACE_ID}-${PARENT_ID}-01`, true, false, VALID],
    [`cc-${TRACE_ID}-${PARENT_ID}-01-what.the.future-brings`, true, false, VALID],
  ])('%s is read, and written as version 00', (traceparent, isSampled, hasRandomId, written) => {
    const context = readTraceContext({ traceparent });
    expect(context).toMatchObject({ traceId: TRACE_ID, parentId: PARENT_ID });
    expect(context).toMatchObject({ isSampled, hasRandomId, state: null });
    expect(context && traceparentOf(context)).toBe(written);
  });

  test.each([
    ['', 'nothing'],
    [`00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`, 'upper case'],
    [`00-${TRACE_ID}-${PARENT_ID.toUpperCase()}-01`, 'upper case'],
    [`00-${'0'.repeat(32)}-${PARENT_ID}-01`, 'a trace id of zeros'],
    [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, 'a parent id of zeros'],
    [`ff-${TRACE_ID}-${PARENT_ID}-01`, 'the forbidden version'],
    [`00-${TRACE_ID}-${PARENT_ID}-01-more`, 'more than version 00 has'],
    [`cc-${TRACE_ID}-${PARENT_ID}-01more`, 'no dash before what is more'],
    [`cc-${TRACE_ID}-${PARENT_ID}-01-${'x'.repeat(500)}`, 'too long'],
    [`0-${TRACE_ID}-${PARENT_ID}-01`, 'a short version'],
    [`00-${TRACE_ID}-${PARENT_ID}-1`, 'short flags'],
    [`00-${TRACE_ID}-${PARENT_ID}`, 'no flags'],
    [`00-${TRACE_ID.slice(1)}-${PARENT_ID}-01`, 'a short trace id'],
    [`00-${TRACE_ID}x-${PARENT_ID}-01`, 'a long trace id'],
    [`${VALID}, ${VALID}`, 'two headers'],
    [` ${VALID}`, 'a space'],
    [`${VALID}\n`, 'a line end'],
  ])('%j is not read: %s', (traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeNull();
  });
});

describe('tracestate', () => {
  const stateOf = (tracestate: string) => readTraceContext({ traceparent: VALID, tracestate });

  test.each([
    ['congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['rojo=1 , ,\tcongo=2,', 'rojo=1,congo=2'],
    ['fw529a3039@dt=FfAAAA', 'fw529a3039@dt=FfAAAA'],
    ['0a/_-*=!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~', '0a/_-*=!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~'],
    [`a=${'x'.repeat(255)},b=${'y'.repeat(250)}`, `a=${'x'.repeat(255)},b=${'y'.repeat(250)}`],
  ])('%j is read', (tracestate, state) => {
    expect(stateOf(tracestate)?.state).toBe(state);
  });

  test.each([
    ['', 'nothing'],
    [' , ', 'no member'],
    ['a', 'no value'],
    ['a=', 'an empty value'],
    ['A=1', 'upper case'],
    ['@a=1', 'a sign at first'],
    ['a =1', 'a space in a key'],
    ['a=1=2', 'an equals sign in a value'],
    ['a=\u00e9', 'what is not ASCII'],
    ['a=1,a=2', 'a key that comes twice'],
    [`a=${'x'.repeat(257)}`, 'a value that is too long'],
    [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(), 'too many members'],
    [`a=${'x'.repeat(256)},b=${'y'.repeat(256)}`, 'too long'],
  ])('%j is dropped, and traceparent counts: %s', (tracestate) => {
    expect(stateOf(tracestate)).toMatchObject({ traceId: TRACE_ID, state: null });
  });
});

describe('baggage', () => {
  test.each([
    'key=value',
    'a=1,b=2;property;p=q , c = 3 ; d = 4',
    'serverNode=DF%2028,userId=Am%C3%A9lie',
    'empty=',
    "!#$%&'*+-.^_`|~09azAZ=!#$%&'()*+-./:<=>?@[]^_`{|}~",
    `a=${'x'.repeat(1_022)}`,
  ])('%j is sent on as it is', (baggage) => {
    expect(readBaggage({ baggage })).toBe(baggage);
  });

  test.each([
    ['', 'nothing'],
    ['a', 'no value'],
    ['=1', 'no key'],
    ['a=1,,b=2', 'an empty member'],
    ['a b=1', 'a space in a key'],
    ['a=1 2', 'a space in a value'],
    ['a="1"', 'a quotation mark'],
    ['a=\\', 'a backslash'],
    ['a=1;', 'an empty property'],
    ['a=\u00e9', 'what is not ASCII'],
    ['a=1\r\nx-injected: 1', 'a line end'],
    [`a=${'x'.repeat(1_023)}`, 'more than 1 kB'],
  ])('%j is dropped: %s', (baggage) => {
    expect(readBaggage({ baggage })).toBeNull();
  });

  test.each([
    ['a=1', '; \t', ''],
    ['a', '   ', ''],
    ['a=1', ';b', '"'],
  ])('%j and many of %j take as long as they are, not their square', (first, part, last) => {
    const slow = (parts: number) => ({ baggage: first + part.repeat(parts) + last });
    const cpuAt = (parts: number) => cpuOf(() => readBaggage(slow(parts)));
    // First a few: what doubles with each of them would never end with many.
    expect(cpuAt(16)).toBeLessThan(24 * cpuAt(8));
    expect(cpuAt(320)).toBeLessThan(24 * cpuAt(40));
    expect(readBaggage(slow(320))).toBeNull();
  });
});
