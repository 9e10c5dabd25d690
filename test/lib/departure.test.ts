import { expect, test, vi } from 'vitest';
import { Departure } from '../../src/lib/departure.ts';

test('each listener is notified once, in the order of registration', () => {
  const departure = new Departure();
  const notified: string[] = [];
  const first = () => notified.push('first');
  departure.addEventListener('abort', first);
  departure.addEventListener('abort', () => notified.push('second'));
  departure.addEventListener('abort', first);
  expect(departure.aborted).toBe(false);
  departure.abort();
  departure.abort();
  expect(notified).toEqual(['first', 'second']);
  expect(departure.aborted).toBe(true);
});

test('a removed listener is not notified, and may be removed again', () => {
  const departure = new Departure();
  const [left, stays] = [vi.fn(), vi.fn()];
  departure.addEventListener('abort', left);
  departure.addEventListener('abort', stays);
  departure.removeEventListener('abort', left);
  departure.removeEventListener('abort', left);
  departure.abort();
  expect(left).not.toHaveBeenCalled();
  expect(stays).toHaveBeenCalledOnce();
});

test('a listener may remove itself while all are notified', () => {
  const departure = new Departure();
  const stays = vi.fn();
  const leaving = () => departure.removeEventListener('abort', leaving);
  departure.addEventListener('abort', leaving);
  departure.addEventListener('abort', stays);
  departure.abort();
  expect(stays).toHaveBeenCalledOnce();
});

test('a listener that is added after the abort is not notified: `aborted` is already true', () => {
  const departure = new Departure();
  departure.abort();
  const late = vi.fn();
  departure.addEventListener('abort', late);
  departure.abort();
  expect(late).not.toHaveBeenCalled();
});
