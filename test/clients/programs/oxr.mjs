// HOST PORT KEY DATE TO: the dollar of today and of a day.
import oxr from 'oxr'

const [, , hostname, port, appId, date, to] = process.argv
const client = oxr.factory({ appId, protocol: 'http', hostname, port })
const [latest, historical] = [await client.latest(), await client.historical(date)]
process.stdout.write(JSON.stringify([latest.rates[to], historical.rates[to]]))
