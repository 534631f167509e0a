// Decides from two polls whether a database went back, failed over, or is another one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeLineage, type LineageReading } from '../../../../src/store/postgres/lineage.ts'

const READING: LineageReading = {
  epoch: 'a',
  generation: 2,
  known: { timeline: 3, serverId: '7' },
  server: { timeline: 3, serverId: '7' },
  counters: [10, 20, 30, 40, 50],
}
const NO_TIMELINE: LineageReading = {
  ...READING,
  known: { timeline: undefined, serverId: undefined },
  server: { timeline: undefined, serverId: undefined },
}

type Case = [name: string, last: LineageReading | undefined, now: LineageReading, expected: string]
const CASES: Case[] = [
  ['the same state', READING, READING, 'same'],
  ['the first poll', undefined, READING, 'same'],
  ['higher counters', READING, { ...READING, counters: [11, 21, 31, 41, 51] }, 'same'],
  ['a later timeline', READING, { ...READING, server: { timeline: 4, serverId: '7' } }, 'renew timeline'],
  [
    'a later timeline at a start',
    undefined,
    { ...READING, server: { timeline: 4, serverId: '7' } },
    'renew timeline',
  ],
  ['an earlier timeline', READING, { ...READING, ...onTimeline(2) }, 'refuse former'],
  [
    'a timeline below the recorded one',
    undefined,
    { ...READING, server: { timeline: 1, serverId: '7' } },
    'refuse copy',
  ],
  ['another server', undefined, { ...READING, server: { timeline: 9, serverId: '8' } }, 'refuse copy'],
  ['a lost renewal', READING, { ...READING, epoch: 'b', generation: 1 }, 'renew counters'],
  ['another renewal of the same state', READING, { ...READING, epoch: 'b' }, 'renew counters'],
  [
    'a renewal by another node',
    READING,
    { ...READING, epoch: 'b', generation: 3, counters: [1, 1, 1, 1, 1] },
    'same',
  ],
  ['a server that is not recorded yet', undefined, { ...READING, known: NO_TIMELINE.known }, 'record'],
  ['no timeline', NO_TIMELINE, NO_TIMELINE, 'same'],
]
for (const at of READING.counters.keys()) {
  const counters = READING.counters.with(at, 9)
  CASES.push([`counter ${at} that went back`, NO_TIMELINE, { ...NO_TIMELINE, counters }, 'renew counters'])
}

for (const [name, last, now, expected] of CASES) {
  test(`judgeLineage: ${name} is ${expected}`, () => {
    const verdict = judgeLineage(last, now)
    const detail = {
      renew: () => 'cause' in verdict && verdict.cause,
      refuse: () => 'isCopy' in verdict && (verdict.isCopy ? 'copy' : 'former'),
    }
    const more = verdict.kind in detail ? ` ${detail[verdict.kind as keyof typeof detail]()}` : ''
    assert.equal(verdict.kind + more, expected)
  })
}

function onTimeline(timeline: number): Pick<LineageReading, 'known' | 'server'> {
  return { known: { timeline, serverId: '7' }, server: { timeline, serverId: '7' } }
}
