import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShelf } from '../src/shelf.ts'

const kilobyte = (letter: string) => Buffer.alloc(1000, letter)

test('a shelf gives back what was put, until it is full', () => {
  const shelf = createShelf<Buffer>(3000)
  for (const letter of 'abc') shelf.put(letter, kilobyte(letter), 1000)
  assert.deepEqual(shelf.get('a'), kilobyte('a'))
  shelf.put('d', kilobyte('d'), 1000)
  assert.equal(shelf.get('b'), undefined, 'the one not used for longest had to go')
  for (const letter of 'acd') assert.ok(shelf.get(letter), letter)
})

test('putting again under a key does not count twice', () => {
  const shelf = createShelf<Buffer>(3000)
  for (let time = 0; time < 10; time += 1) shelf.put('a', kilobyte('a'), 1000)
  shelf.put('b', kilobyte('b'), 1000)
  assert.ok(shelf.get('a') && shelf.get('b'))
})

test('what alone would fill half of the shelf is not kept', () => {
  const shelf = createShelf<Buffer>(1999)
  shelf.put('a', kilobyte('a'), 1000)
  assert.equal(shelf.get('a'), undefined)
})
