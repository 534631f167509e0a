// Finds the values of an answer that are too far from others of their series to be stored (decisions#jumps). Pure. A
// wrong answer may be ten times too high, for a day or as a whole. A new currency divides all later values.

import type { WithheldRate } from '../../store/rates/withheld.ts'
import type { FarReference } from '../../store/tables.ts'
import { dayNumber, type IsoDate } from '../../values/dates.ts'
import { isInRange, product, ratio, withinFactor } from '../../values/decimal.ts'
import type { AcceptedRate } from './accept.ts'

/** Days within which values are compared. */
export const NEAR_DAYS = 31
/** Days within which today's plausible range is valid, and a stored value replaces it. */
const RANGE_DAYS = 366
const FAR = 5n
const ALIKE = 2n
const CONFIRMING_DAYS = 3

type DayValue = { rate_date: IsoDate; value: string }

/** Answer to judge, of one series. */
export type JudgedAnswer = {
  /** Stored values from 31 days before the window to 31 days after it. */
  stored: readonly DayValue[]
  /** Day of the newest stored value. */
  newestDay: IsoDate | undefined
  /** Withheld values of the same days. */
  withheld: readonly WithheldRate[]
  answer: readonly Omit<AcceptedRate, 'code'>[]
  runId: number
  /** Day whose value the operator accepts. */
  acceptedDay: IsoDate | undefined
  /** Plausible values of today. */
  range: { low: string; high: string } | undefined
  today: IsoDate
}

/** Value to withhold, with the run that read it first. `reference`: the value that it is far from. */
export type FarValue = Omit<AcceptedRate, 'code'> & {
  farFrom: FarReference
  runId: number
  reference: DayValue | undefined
}

/** `isTrusted`: stored, or near a stored value. `answer`: in the answer, which `runId` read first. */
type EntryFacts = {
  isTrusted: boolean
  runId?: number
  farFrom?: FarReference
  answer?: Omit<AcceptedRate, 'code'>
}

type Entry = DayValue & EntryFacts & { number: number }

/** Consecutive entries, each near the one before it. `newest`: those after the last new currency. `outliers`: not of it. */
type Level = { entries: Entry[]; newest: readonly Entry[]; outliers: Entry[]; isTrusted: boolean }

/** Levels that are alike, with outliers between them. `entries`: without those of outliers. */
type LevelGroup = { entries: readonly Entry[]; levels: readonly Level[] }

/** Returns the values of an answer that are not to be stored. */
export function findFarValues(facts: JudgedAnswer): FarValue[] {
  if (facts.withheld.length === 0 && isStored(facts)) return []
  const { entries, contradictions } = listEntries(facts)
  if (contradictions.length === 0 && entries.every(({ isTrusted }) => isTrusted)) return []
  const levels = splitLevels(entries, contradictions)
  if (levels.every(({ isTrusted, outliers }) => isTrusted && outliers.length === 0)) return contradictions
  const clusters = splitClusters(levels)
  return [...contradictions, ...clusters.flatMap((cluster) => farOfCluster(cluster, facts, contradictions))]
}

/** Returns true when each value of the answer is the stored one. */
function isStored({ stored, answer }: JudgedAnswer): boolean {
  const values = new Map(stored.map(({ rate_date, value }) => [rate_date, value]))
  return answer.every(({ day, value }) => values.get(day) === value)
}

function listEntries({ stored, withheld, answer, runId: ownRun, acceptedDay }: JudgedAnswer) {
  const byDay = new Map<IsoDate, Entry>()
  const contradictions: FarValue[] = []
  const rows = new Map(withheld.map((one) => [one.rate_date, one]))
  const add = ({ rate_date, value }: DayValue, facts: EntryFacts) =>
    byDay.set(rate_date, { rate_date, value, number: dayNumber(rate_date), ...facts })
  for (const row of withheld) add(row, { isTrusted: false, runId: row.run_id, farFrom: row.far_from })
  for (const one of stored) add(one, { isTrusted: true })
  for (const one of answer) {
    const value = { rate_date: one.day, value: one.value }
    const before = byDay.get(one.day)
    const row = rows.get(one.day)
    const firstRun = row?.value === one.value ? row.run_id : ownRun
    if (!before?.isTrusted || one.day === acceptedDay) {
      add(value, { isTrusted: one.day === acceptedDay, runId: firstRun, answer: one })
    } else if (withinFactor(one.value, before.value, FAR)) add(value, { isTrusted: true, answer: one })
    else contradictions.push({ ...one, farFrom: 'neighbour', runId: firstRun, reference: before })
  }
  return { entries: [...byDay.values()].sort((a, b) => a.number - b.number), contradictions }
}

/** Splits entries at each jump, and at gaps of more than 31 days. */
function splitLevels(entries: readonly Entry[], contradictions: readonly FarValue[]): Level[] {
  const levels: Level[] = []
  for (const [at, entry] of entries.entries()) {
    const before = entries[at - 1]
    const level = levels.at(-1)
    if (before && level && isLinked(before, entry)) level.entries.push(entry)
    else levels.push({ entries: [entry], newest: [], outliers: [], isTrusted: false })
  }
  for (const level of levels) {
    level.newest = level.entries
    level.isTrusted = level.entries.some(({ isTrusted }) => isTrusted)
  }
  const groups = groupLevels(levels)
  const currencies: LevelGroup[][] = []
  for (const [at, group] of groups.entries()) {
    if (isNewCurrency(groups, at, contradictions)) currencies.at(-1)?.push(group)
    else currencies.push([group])
  }
  return currencies.flatMap((some) => (some.length > 1 ? joinGroups(some) : (some[0]?.levels ?? [])))
}

/** Groups the levels before and after each outlier, the shortest outlier first. */
function groupLevels(levels: readonly Level[]): LevelGroup[] {
  const groups: LevelGroup[] = levels.map((level) => ({ entries: level.entries, levels: [level] }))
  for (;;) {
    let shortest: number | undefined
    let limit = Number.POSITIVE_INFINITY
    for (const [at, { entries }] of groups.entries()) {
      // The later one of two that are as long: a day may be left in the old unit.
      if (entries.length > limit || !isOutlier(groups, at)) continue
      shortest = at
      limit = entries.length
    }
    if (shortest === undefined) return groups
    const three = groups.slice(shortest - 1, shortest + 2)
    groups.splice(shortest - 1, 3, {
      entries: three.filter((_, at) => at !== 1).flatMap(({ entries }) => entries),
      levels: three.flatMap((one) => one.levels),
    })
  }
}

/** Returns true for the shortest of three groups when the others are alike. Stored values are no outlier. */
function isOutlier(groups: readonly LevelGroup[], at: number): boolean {
  const [before, group, after] = [groups[at - 1], groups[at], groups[at + 1]]
  if (!before || !group || !after) return false
  const size = group.entries.length
  const sizes = [before.entries.length, after.entries.length]
  return (
    size <= Math.min(...sizes) &&
    size < Math.max(...sizes) &&
    group.levels.every(({ isTrusted }) => !isTrusted) &&
    isLinked(lastEntry(before), firstEntry(after))
  )
}

function firstEntry({ entries }: Pick<LevelGroup, 'entries'>): Entry {
  return entries[0] as Entry
}

function lastEntry({ entries }: Pick<LevelGroup, 'entries'>): Entry {
  return entries.at(-1) as Entry
}

function joinGroups(groups: readonly LevelGroup[]): Level {
  const entries = groups.flatMap((one) => one.entries)
  const own = new Set(entries)
  const all = groups.flatMap(({ levels }) => levels.flatMap((one) => one.entries))
  return {
    entries,
    newest: groups.at(-1)?.entries ?? [],
    outliers: all.filter((one) => !own.has(one)),
    isTrusted: entries.some(({ isTrusted }) => isTrusted),
  }
}

function isLinked(before: Entry, entry: Entry): boolean {
  return isClose(before, entry) && withinFactor(before.value, entry.value, FAR)
}

function isClose(before: Entry | undefined, entry: Entry | undefined): boolean {
  return before !== undefined && entry !== undefined && entry.number - before.number <= NEAR_DAYS
}

/**
 * Returns true where one answer has three days before a jump, and four alike days from it on. A level between two others
 * that are alike is an error, and no currency. So is one near a stored value that the answer contradicts.
 */
function isNewCurrency(
  groups: readonly LevelGroup[],
  at: number,
  contradictions: readonly FarValue[],
): boolean {
  const [before, after] = [groups[at - 1], groups[at]]
  if (!before || !after) return false
  const last = lastEntry(before)
  const first = firstEntry(after)
  const isNearJump = ({ day }: FarValue) =>
    dayNumber(day) >= last.number - NEAR_DAYS && dayNumber(day) <= first.number + NEAR_DAYS
  const old = before.entries.slice(-CONFIRMING_DAYS)
  const fresh = after.entries.slice(0, CONFIRMING_DAYS + 1)
  const areAlike = (some: readonly Entry[], other: Entry) =>
    some.every(({ answer, value }) => answer && withinFactor(value, other.value, ALIKE))
  const returns = (one: Entry | undefined, edge: Entry, other: Entry) =>
    one !== undefined &&
    (isClose(one, edge) || isClose(edge, one)) &&
    withinFactor(one.value, other.value, FAR)
  return (
    isClose(last, first) &&
    !contradictions.some(isNearJump) &&
    old.length === CONFIRMING_DAYS &&
    fresh.length === CONFIRMING_DAYS + 1 &&
    areAlike(old, last) &&
    areAlike(fresh, first) &&
    !returns(groups[at - 2]?.entries.at(-1), firstEntry(before), first) &&
    !returns(groups[at + 1]?.entries[0], lastEntry(after), last)
  )
}

/** Groups levels with at most 31 days between one and the next. */
function splitClusters(levels: readonly Level[]): Level[][] {
  const clusters: Level[][] = []
  for (const [at, level] of levels.entries()) {
    const isNext = isClose(levels[at - 1]?.entries.at(-1), level.entries[0])
    if (isNext) clusters.at(-1)?.push(level)
    else clusters.push([level])
  }
  return clusters
}

function farOfCluster(
  cluster: readonly Level[],
  facts: JudgedAnswer,
  contradictions: readonly FarValue[],
): FarValue[] {
  const isAnchored = cluster.some(({ isTrusted }) => isTrusted)
  const judged = new Set(isAnchored ? [] : cluster.flatMap(({ entries }) => entries.filter(isOfRange(facts))))
  const isPlausible = ({ value }: Entry) =>
    facts.range !== undefined &&
    isInRange(value, ratio([facts.range.low], [String(FAR)]), product(facts.range.high, String(FAR)))
  const plausible = cluster.filter(({ newest }) => {
    const judgedEntries = newest.filter((one) => judged.has(one))
    return judgedEntries.length > 0 && judgedEntries.every(isPlausible)
  })
  const isRange =
    judged.size > 0 || cluster.some(({ entries }) => entries.some((one) => one.farFrom === 'range'))
  const hasRows = cluster.some(({ entries }) => entries.some((one) => !one.answer))
  // Without a stored value the longest plausible level is the right one.
  const candidates = judged.size > 0 ? plausible : isRange || hasRows ? [] : cluster
  if (!isAnchored) trustLongest(candidates)
  trustNearLevels(cluster)
  confirmLaterLevels(cluster, contradictions)
  trustNearLevels(cluster)
  const trusted = cluster.filter(({ isTrusted }) => isTrusted)
  return cluster
    .map(({ entries, outliers, isTrusted }) => (isTrusted ? outliers : [...entries, ...outliers]))
    .flatMap((some) =>
      some.flatMap(({ answer, runId = facts.runId, number }) => {
        const reference = nearestEntry(trusted, number)
        const facts = { farFrom: !reference && isRange ? 'range' : 'neighbour', runId, reference } as const
        return answer ? [{ ...answer, ...facts }] : []
      }),
    )
}

/** Returns a test of days that the plausible range limits. */
function isOfRange({ range, newestDay, today }: JudgedAnswer): (entry: Entry) => boolean {
  const first = dayNumber(today) - RANGE_DAYS
  const newest = newestDay === undefined ? Number.NEGATIVE_INFINITY : dayNumber(newestDay)
  return ({ number }) => range !== undefined && number >= first && newest < number - RANGE_DAYS
}

function trustLongest([first, ...others]: readonly Level[]): void {
  if (!first) return
  const isLonger = (one: Level, other: Level) => one.entries.length > other.entries.length
  others.reduce((longest, one) => (isLonger(one, longest) ? one : longest), first).isTrusted = true
}

/** Trusts each level that is near the nearest trusted value. */
function trustNearLevels(cluster: readonly Level[]): void {
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (const [at, level] of cluster.entries()) {
      if (level.isTrusted || !isNearTrusted(cluster, at)) continue
      level.isTrusted = true
      isChanged = true
    }
  }
}

function isNearTrusted(cluster: readonly Level[], at: number): boolean {
  const [first, last] = [firstEntry(cluster[at] as Level), lastEntry(cluster[at] as Level)]
  const leftEntry = cluster
    .slice(0, at)
    .findLast(({ isTrusted }) => isTrusted)
    ?.entries.at(-1)
  const rightEntry = cluster.slice(at + 1).find(({ isTrusted }) => isTrusted)?.entries[0]
  const gaps = {
    left: leftEntry ? first.number - leftEntry.number : Number.POSITIVE_INFINITY,
    right: rightEntry ? rightEntry.number - last.number : Number.POSITIVE_INFINITY,
  }
  const isNear = (one: Entry | undefined, edge: Entry) =>
    one !== undefined && withinFactor(one.value, edge.value, FAR)
  return (
    (gaps.left <= gaps.right && isNear(leftEntry, first)) ||
    (gaps.right <= gaps.left && isNear(rightEntry, last))
  )
}

/**
 * Trusts levels after the last trusted value, once three later days that other runs read first are alike. A source that
 * contradicts stored values by the same level confirms none.
 */
function confirmLaterLevels(cluster: readonly Level[], contradictions: readonly FarValue[]): void {
  const end = cluster.findLastIndex(({ isTrusted }) => isTrusted)
  if (end < 0) return
  const later = cluster.slice(end + 1)
  const entries = later.flatMap((level) => level.entries)
  const isContradiction = (one: Entry) =>
    contradictions.some(({ value }) => withinFactor(one.value, value, ALIKE))
  for (const level of later)
    level.isTrusted =
      !level.entries.some(isContradiction) &&
      level.entries.some((one) => one.answer && hasLaterDays(one, entries))
}

function hasLaterDays(one: Entry, entries: readonly Entry[]): boolean {
  const runs = new Set<number | undefined>()
  for (const { number, value, runId } of entries) {
    if (number > one.number && runId !== one.runId && withinFactor(one.value, value, ALIKE)) runs.add(runId)
  }
  return runs.size >= CONFIRMING_DAYS
}

function nearestEntry(trusted: readonly Level[], number: number): Entry | undefined {
  let nearest: Entry | undefined
  for (const one of trusted.flatMap(({ entries }) => entries)) {
    if (!nearest || Math.abs(one.number - number) < Math.abs(nearest.number - number)) nearest = one
  }
  return nearest
}
