// Runs the Google Sheets example with fakes of the services of Apps Script. Words: the file, and the words of the
// other examples. UrlFetchApp has no asynchronous form, so curl makes the requests.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'

const [file, amount, from, to, day, side, decimals] = process.argv.slice(2)
const { CAMBISTA_URL, CAMBISTA_KEY, CAMBISTA_TIMEOUT = '10', CAMBISTA_SCRIPT } = process.env
const entries = new Map()
const lifetimes = []

/** Answers like UrlFetchApp.fetch, whose limit of a minute is shorter here. */
function fetchUrl(url, { headers, muteHttpExceptions, followRedirects }) {
  if (!muteHttpExceptions || followRedirects) throw new Error('the fake has no other options')
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const words = ['-s', '-S', '-i', '--max-time', CAMBISTA_TIMEOUT, ...fields, url]
  let output
  try {
    output = execFileSync('curl', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    throw new Error(`Address unavailable: ${error.stderr}`)
  }
  const end = output.indexOf('\r\n\r\n')
  const [first, ...lines] = output.slice(0, end).split('\r\n')
  return {
    getResponseCode: () => Number(first.split(' ')[1]),
    getContentText: () => output.slice(end + 4),
    getHeaders: () => Object.fromEntries(lines.map((line) => line.split(': '))),
  }
}

const context = {
  Date: class extends Date {
    constructor(...words) {
      super(...(words.length > 0 ? words : [process.env.NOW ?? '2026-03-24T18:00:00Z']))
    }
  },
  CacheService: {
    getScriptCache: () => ({
      get: (name) => entries.get(name) ?? null,
      put: (name, text, seconds) => {
        entries.set(name, text)
        lifetimes.push(seconds)
      },
    }),
  },
  PropertiesService: {
    getScriptProperties: () => ({ getProperties: () => ({ CAMBISTA_URL, CAMBISTA_KEY }) }),
  },
  SpreadsheetApp: { getActive: () => ({ getSpreadsheetTimeZone: () => 'America/Costa_Rica' }) },
  UrlFetchApp: { fetch: fetchUrl },
  Utilities: {
    DigestAlgorithm: { SHA_256: 'sha256' },
    base64Encode: (bytes) => bytes.toString('base64'),
    computeDigest: (algorithm, text) => createHash(algorithm).update(text).digest(),
    formatDate: (date, timeZone) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(date),
    sleep: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  },
}
runInNewContext(readFileSync(file, 'utf8'), context, { filename: file })
try {
  if (CAMBISTA_SCRIPT) {
    const value = runInNewContext(CAMBISTA_SCRIPT, context)
    process.stdout.write(JSON.stringify({ value, lifetimes }))
  } else {
    const { result, rate, rate_date } = context.conversion_(amount, from, to, day, side, decimals)
    process.stdout.write(`${result} ${rate} ${rate_date}\n`)
  }
} catch (error) {
  process.stderr.write(`cambista: ${error.message}\n`)
  process.exitCode = 1
}
