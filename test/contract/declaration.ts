// Consistency of a provider's declaration: zone, pivot, benchmark, settings, catalogue, groups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerOptions, scheduleOptions } from '../../src/cli/options/provider-options.ts'
import type { CatalogueSeries, Provider } from '../../src/providers/provider.ts'

const UNPREFIXED_OPTION = 'sync-cron' // from the time of a single provider
const pairName = ({ base, quote }: { base: string; quote: string }) => `${base}/${quote}`

export function testDeclaration(name: string, provider: Provider): void {
  const { catalogue, groups, benchmark, pivot } = provider

  test(`${name}: it has a code, names and a zone`, () => {
    assert.match(provider.code, /^[a-z][a-z0-9]{1,30}$/)
    assert.match(provider.country, /^[A-Z]{2}$/)
    assert.notEqual(provider.name.trim(), '')
    assert.ok(URL.canParse(provider.website))
    assert.ok(Intl.supportedValuesOf('timeZone').includes(provider.timeZone))
    assert.match(provider.publication.time, /^([01]\d|2[0-3]):[0-5]\d$/)
  })

  test(`${name}: its series differ by code, and by pair and side`, () => {
    const codes = catalogue.flatMap(({ externalCode }) => externalCode ?? [])
    assert.deepEqual(codes, [...new Set(codes)])
    const sides = catalogue.map((one) => `${pairName(one)} ${one.rateType}`)
    assert.deepEqual(sides, [...new Set(sides)])
    for (const one of catalogue) {
      for (const currency of [one.base, one.quote]) assert.match(currency, /^[A-Z]{3}$/)
      assert.notEqual(one.base, one.quote)
      assert.notEqual(one.name.trim(), '')
      if (one.plausibleRange)
        assert.ok(
          Number(one.plausibleRange.low) > 0 &&
            Number(one.plausibleRange.low) < Number(one.plausibleRange.high),
          one.name,
        )
    }
  })

  test(`${name}: each currency is one step away from the pivot`, () => {
    const strays = catalogue.filter(({ base, quote }) => base !== pivot && quote !== pivot)
    assert.deepEqual(strays, [])
  })

  test(`${name}: the sides of the benchmark come first in the catalogue`, () => {
    const sides = catalogue.filter((one) => pairName(one) === pairName(benchmark))
    assert.ok(sides.length > 0)
    assert.deepEqual(catalogue.slice(0, sides.length), sides)
    assert.ok(benchmark.staleDays >= 0)
  })

  test(`${name}: each series is read with a group, the benchmark with the first`, () => {
    const isInGroup = (one: CatalogueSeries, { table, indicators }: Provider['groups'][number]) =>
      table === one.table && (!indicators || indicators.includes(one.externalCode ?? ''))
    for (const one of catalogue) {
      assert.equal(groups.filter((group) => isInGroup(one, group)).length, 1, one.name)
      const [first] = groups
      if (pairName(one) === pairName(benchmark)) assert.ok(first && isInGroup(one, first))
    }
    assert.equal(new Set(groups.map((group) => group.name)).size, groups.length)
    assert.ok(groups.every(({ chunkDays }) => chunkDays > 0))
  })

  test(`${name}: its options begin with its code, and their defaults are values`, () => {
    const options = { ...scheduleOptions([provider]), ...providerOptions([provider]) }
    for (const [option, { fallback, format }] of Object.entries(options)) {
      assert.ok(option === UNPREFIXED_OPTION || option.startsWith(`${provider.code}-`), option)
      if (fallback !== undefined) assert.equal(format.validate(fallback), undefined, option)
    }
    const { schedule, url, pace, token } = provider.settings
    for (const setting of [schedule, url, pace, token]) {
      if (setting) assert.ok(setting.help && setting.spanish, setting.option)
    }
    if (token) assert.ok(token.option.endsWith('-file'), token.option)
  })
}
