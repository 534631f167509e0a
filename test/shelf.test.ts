import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShelf } from '../src/shelf.ts'

test('a shelf gives back what was put, and never holds more than it may', () => {
  const shelf = createShelf<number>(10_000)
  for (let at = 0; at < 1000; at += 1) {
    shelf.put(`thing ${at}`, at, 700)
    assert.equal(shelf.get(`thing ${at}`), at)
    assert.ok(shelf.held().bytes <= 10_000)
  }
  assert.equal(shelf.get('thing 0'), undefined)
  assert.equal(shelf.held().bytes, shelf.held().entries * 700)
  assert.ok(shelf.held().entries >= 7, 'half of it is always in use')
})

test('what is used stays, however much else comes', () => {
  const shelf = createShelf<number>(10_000)
  shelf.put('used', 1, 700)
  for (let at = 0; at < 100; at += 1) {
    shelf.put(`other ${at}`, at, 700)
    assert.equal(shelf.get('used'), 1)
  }
})

test('what is put again replaces what was there', () => {
  const shelf = createShelf<string>(3000)
  for (let time = 0; time < 10; time += 1) shelf.put('a', `${time}`, 1000)
  shelf.put('b', 'b', 1000)
  assert.equal(shelf.get('a'), '9')
  shelf.put('a', 'new', 10)
  assert.deepEqual([shelf.get('a'), shelf.held()], ['new', { entries: 2, bytes: 1010 }])
})

test('what alone would fill half of the shelf is not kept, nor what it was to replace', () => {
  const shelf = createShelf<string>(1999)
  shelf.put('a', 'short', 10)
  shelf.put('a', 'long', 1000)
  assert.equal(shelf.get('a'), undefined)
  assert.deepEqual(shelf.held(), { entries: 0, bytes: 0 })
})

test('counts how often what was asked for was there', () => {
  const tally = { hits: 0, misses: 0 }
  const shelf = createShelf<string>(3000, tally)
  shelf.get('a')
  shelf.put('a', 'a', 1000)
  shelf.put('b', 'b', 1000)
  for (const key of ['a', 'b', 'a', 'c']) shelf.get(key)
  assert.deepEqual(tally, { hits: 3, misses: 2 })
})
