import type { MonthsTexts } from './es-months.ts'

export const EN_MONTHS: MonthsTexts = {
  source: 'Currency',
  target: 'In units of',
  year: 'Year',
  previous: 'Year before',
  next: 'Year after',
  month: 'Month',
  stats: { last: 'Close', mean: 'Mean', low: 'Lowest', high: 'Highest' },
  caption: (pair, year, side) => [`${pair}, ${year}`, side].filter(Boolean).join(' · '),
  note: 'Note',
  partial: 'partial',
  partialOf: (side) => `partial: ${side.toLowerCase()}`,
  dayOf: (title) => `${title}: date`,
  roundedOf: (title) => `${title}: decimals of the source`,
  meaning:
    'Close: the last value of the month. Mean: that of all days with a value. Below is the day of publication; where two values are needed, the older one.',
  partialMeans: 'Partial: the month is not over, or not all of its days are known.',
  roundedMeans: (places) => `r${places}: rounded by the source to ${places} decimals.`,
  none: (pair, year) => `There are no values of ${pair} in ${year}`,
  noneText: 'Choose another year or other currencies.',
  copy: 'Copy the table',
  copied: 'Copied',
  notCopied: 'The browser does not let the page copy',
  csvLocal: 'CSV es-CR',
  csvLocalText: 'With semicolons and decimal commas, for spreadsheets in Spanish',

  empty: {
    title: 'There are no exchange rates yet',
    text: 'The server has not synchronized anything.',
    next: (instant) => `The next automatic sync is on ${instant}.`,
    off: 'Automatic sync is off.',
    sooner: 'So as not to wait, run on the server:',
    run: 'To synchronize, run on the server:',
    after: 'The values appear here as soon as they arrive.',
  },

  missingDays: {
    holes: (from, to, others) =>
      `Days without a sync are missing: ${from === to ? from : `${from} to ${to}`}${
        others === 0 ? '' : others === 1 ? ' and one more period' : ` and ${others} more periods`
      }. The figures are without them.`,
    unknown: 'Which days have not been synchronized is not known.',
  },

  leftOut: (names) => `Missing because that day has not been synchronized: ${names}.`,

  export: {
    text: 'Each stored value with its rounding and the time when it was stored, and the days that are known. The file ends with the number of values and its SHA-256; another cambista reads it with “cambista import”.',
    file: (format) => `Export ${format}`,
    started: 'The browser keeps the file.',
  },
}
