import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLruCache } from '../../../src/runtime/lru.ts'

test('LruCache returns stored values and stays below its limit', () => {
  const cache = createLruCache<number>(10_000)
  for (let at = 0; at < 1000; at += 1) {
    cache.put(`thing ${at}`, at, 700)
    assert.equal(cache.get(`thing ${at}`), at)
    assert.ok(cache.size().bytes <= 10_000)
  }
  assert.equal(cache.get('thing 0'), undefined)
  assert.equal(cache.size().bytes, cache.size().entries * 700)
  assert.ok(cache.size().entries >= 7, 'at least half is in use')
})

test('LruCache evicts the least recently used entry', () => {
  const cache = createLruCache<number>(10_000)
  cache.put('used', 1, 700)
  for (let at = 0; at < 100; at += 1) {
    cache.put(`other ${at}`, at, 700)
    assert.equal(cache.get('used'), 1)
  }
})

test('LruCache.put replaces the value of a key', () => {
  const cache = createLruCache<string>(3000)
  for (let time = 0; time < 10; time += 1) cache.put('a', `${time}`, 1000)
  cache.put('b', 'b', 1000)
  assert.equal(cache.get('a'), '9')
  cache.put('a', 'new', 10)
  assert.deepEqual([cache.get('a'), cache.size()], ['new', { entries: 2, bytes: 1010 }])
})

test('LruCache.put of a value over half of the limit removes the key', () => {
  const cache = createLruCache<string>(1999)
  cache.put('a', 'short', 10)
  cache.put('a', 'long', 1000)
  assert.equal(cache.get('a'), undefined)
  assert.deepEqual(cache.size(), { entries: 0, bytes: 0 })
})

test('LruCache counts hits and misses', () => {
  const stats = { hits: 0, misses: 0 }
  const cache = createLruCache<string>(3000, stats)
  cache.get('a')
  cache.put('a', 'a', 1000)
  cache.put('b', 'b', 1000)
  for (const key of ['a', 'b', 'a', 'c']) cache.get(key)
  assert.deepEqual(stats, { hits: 3, misses: 2 })
})
