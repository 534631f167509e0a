/**
 * Exchange rates of a cambista server in Google Sheets: =CAMBISTA("USD"; "CRC"; A2)
 *
 * Paste it into Extensions > Apps Script. In Project Settings > Script Properties add CAMBISTA_URL, the address of the
 * server (Google must reach it, so it needs a public name and HTTPS), and CAMBISTA_KEY (cambista key create NAME).
 *
 * A cell of Sheets holds a binary number of 15 to 17 digits, so a rate is not exact there. With "text" as the last
 * argument the cell has the published digits as a text. To book amounts, let the server multiply: =CAMBISTA_CONVERT.
 *
 * On a weekend or holiday the last published value answers; =CAMBISTA_DAY has its day. The cell is an error, and no
 * value is guessed, for a day that the server has not fetched, for a future day, and for a value that is too old.
 *
 * UrlFetchApp has no time-out of its own: Google ends a request after a minute, and a function of a cell after 30 s.
 */

const ATTEMPTS = 3
const LONGEST_WAIT = 5 // seconds between two attempts: a function of a cell has 30 s
const OLDEST_VALUE = 7 // days between the day asked for and its value: holidays are shorter
const CACHE_SECONDS = 21600 // of a day before today; that of today may still be published, or corrected
const CACHE_SECONDS_TODAY = 300

/**
 * Returns the rate of a currency in another on a day.
 * @param {string} from Such as "USD".
 * @param {string} to Such as "CRC".
 * @param {Date|string} day A date or "YYYY-MM-DD"; without it today.
 * @param {string} side "venta" (default) or "compra".
 * @param {string} form "text" for the exact digits.
 * @customfunction
 */
function CAMBISTA(from, to, day, side, form) {
  const { rate } = conversion_('1', from, to, day, side)
  return form === 'text' ? rate : Number(rate)
}

/**
 * Returns an amount in another currency, multiplied exactly and rounded once by the server.
 * @param {number|string} amount
 * @param {string} from Such as "USD".
 * @param {string} to Such as "CRC".
 * @param {Date|string} day A date or "YYYY-MM-DD"; without it today.
 * @param {string} side "venta" (default) or "compra".
 * @param {number} decimals Of the result; 2 by default.
 * @customfunction
 */
function CAMBISTA_CONVERT(amount, from, to, day, side, decimals) {
  return Number(
    conversion_(String(amount), from, to, day, side, decimals === undefined ? 2 : decimals).result,
  )
}

/**
 * Returns the day on which the rate of a day was published, as "YYYY-MM-DD".
 * @param {string} from Such as "USD".
 * @param {string} to Such as "CRC".
 * @param {Date|string} day A date or "YYYY-MM-DD"; without it today.
 * @param {string} side "venta" (default) or "compra".
 * @customfunction
 */
function CAMBISTA_DAY(from, to, day, side) {
  return conversion_('1', from, to, day, side).rate_date
}

function conversion_(amount, from, to, day, side, decimals) {
  const today = Utilities.formatDate(new Date(), 'America/Costa_Rica', 'yyyy-MM-dd')
  const on = day === undefined || day === '' ? today : isoDay_(day)
  const parameters = { amount, from, to, on, type: side || 'venta', decimals }
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  const cache = CacheService.getScriptCache()
  const name = `cambista ${Utilities.base64Encode(Utilities.computeDigest(Utilities.DigestAlgorithm.SHA_256, query))}`
  const cachedText = cache.get(name)
  if (cachedText !== null) return JSON.parse(cachedText)
  const text = request_(`/api/v1/convert?${query}`)
  const answer = JSON.parse(text)
  if (answer.future) throw new Error(`${on} is in the future`)
  if ((Date.parse(on) - Date.parse(answer.rate_date)) / 86400000 > OLDEST_VALUE) {
    throw new Error(`the newest value for ${on} is of ${answer.rate_date}: the server is behind`)
  }
  cache.put(name, text, on < today ? CACHE_SECONDS : CACHE_SECONDS_TODAY)
  return answer
}

/** Returns the day of a cell. A date of a cell is midnight in the time zone of the spreadsheet. */
function isoDay_(day) {
  if (!(day instanceof Date)) return String(day)
  return Utilities.formatDate(day, SpreadsheetApp.getActive().getSpreadsheetTimeZone(), 'yyyy-MM-dd')
}

function request_(path) {
  const { CAMBISTA_URL = '', CAMBISTA_KEY = '' } = PropertiesService.getScriptProperties().getProperties()
  for (let attempt = 1; ; attempt++) {
    let status = 0
    let seconds = NaN
    let reason
    try {
      const response = UrlFetchApp.fetch(CAMBISTA_URL.replace(/\/+$/, '') + path, {
        headers: { 'X-API-Key': CAMBISTA_KEY },
        muteHttpExceptions: true,
        followRedirects: false, // another server must not get the key
      })
      status = response.getResponseCode()
      const text = response.getContentText()
      if (status === 200 && text.endsWith('}')) return text
      reason = `${status}: ${text}`
      const headers = Object.entries(response.getHeaders())
      seconds = parseInt((headers.find(([name]) => name.toLowerCase() === 'retry-after') || [])[1], 10)
    } catch (error) {
      reason = error.message // no connection, or no answer in time
    }
    if (![0, 200, 429, 502, 503, 504].includes(status)) throw new Error(reason)
    const wait = Number.isNaN(seconds) ? 2 ** (attempt - 1) : seconds
    if (attempt === ATTEMPTS || wait > LONGEST_WAIT)
      throw new Error(`${CAMBISTA_URL} does not answer: ${reason}`)
    Utilities.sleep(wait * 1000)
  }
}
