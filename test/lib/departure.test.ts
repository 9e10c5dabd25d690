import { expect, test, vi } from 'vitest';
import { Departure } from '../../src/lib/departure.ts';

test('whoever listens is told once, in the order in which they came', () => {
  const departure = new Departure();
  const told: string[] = [];
  const first = () => told.push('first');
  departure.addEventListener('abort', first);
  departure.addEventListener('abort', () => told.push('second'));
  departure.addEventListener('abort', first);
  expect(departure.aborted).toBe(false);
  departure.abort();
  departure.abort();
  expect(told).toEqual(['first', 'second']);
  expect(departure.aborted).toBe(true);
});

test('whoever has stopped listening is not told, and may stop again', () => {
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

test('one listener may take another away while all are told', () => {
  const departure = new Departure();
  const stays = vi.fn();
  const leaving = () => departure.removeEventListener('abort', leaving);
  departure.addEventListener('abort', leaving);
  departure.addEventListener('abort', stays);
  departure.abort();
  expect(stays).toHaveBeenCalledOnce();
});

test('who comes too late is told nothing: it can see for itself', () => {
  const departure = new Departure();
  departure.abort();
  const late = vi.fn();
  departure.addEventListener('abort', late);
  departure.abort();
  expect(late).not.toHaveBeenCalled();
});
