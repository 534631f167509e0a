// The chart itself. Here alone values become floats: they are positions in pixels, and no figure is read from them.

import uPlot from 'uplot'
import type { Formats } from '../words/formats.ts'
import type { Days } from '../words/history.ts'

export type Chart = {
  /** @param breaks before which days the lines break off */
  draw(data: Days, breaks: readonly number[], formats: Formats): void
  /** Points at a day, by its index in the data; undefined: at none. */
  point(index: number | undefined): void
  close(): void
}

export type ChartEvents = {
  /** The day under the pointer. */
  pointed(index: number): void
  /** A range was dragged over: its first and last day. */
  zoomed(from: number, to: number): void
}

const AXIS_WIDTH = 58
const AXIS_HEIGHT = 30
const LABEL_HALF = 22 // nearer to the left edge a label would be cut
const NARROW = 520
const YEAR_SECONDS = 31_536_000
const MONTH_SECONDS = 2_419_200

export function openChart(host: HTMLElement, events: ChartEvents): Chart {
  let plot: uPlot | undefined
  let ownIndexes: Int32Array = new Int32Array() // of each place of the plot its day; a break has its neighbour's
  let places: Int32Array = new Int32Array() // of each day its place
  let drawn: Parameters<Chart['draw']> | undefined
  let isPointedByUs = false
  const sizes = new ResizeObserver(() => {
    if (plot && host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height: host.clientHeight })
  })
  sizes.observe(host)
  const redraw = () => {
    if (drawn) draw(...drawn)
  }
  const colours = matchMedia('(prefers-color-scheme: dark)')
  colours.addEventListener('change', redraw)
  const themes = new MutationObserver(redraw)
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })

  function draw(...asked: Parameters<Chart['draw']>) {
    drawn = asked
    const [data, breaks, formats] = asked
    const before = plot
    const table = placed(data, new Set(breaks))
    ownIndexes = table.ownIndexes
    places = table.places
    plot = new uPlot(optionsOf(host, data, formats, hooks()), table.columns, host)
    before?.destroy()
    readTouches(plot, (left) => pointAt(plot?.posToIdx(left)))
  }
  function hooks(): uPlot.Hooks.Arrays {
    return {
      setCursor: [
        ({ cursor }) => {
          if (!isPointedByUs && cursor.idx != null && (cursor.left ?? -1) >= 0) pointAt(cursor.idx)
        },
      ],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select
          if (width < 8) return
          const [from, to] = [chart.posToIdx(left), chart.posToIdx(left + width)]
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          events.zoomed(ownIndexes[from] ?? 0, ownIndexes[to] ?? 0)
        },
      ],
    }
  }
  function pointAt(place: number | undefined) {
    if (place !== undefined) events.pointed(ownIndexes[place] ?? 0)
  }
  return {
    draw,
    point(index) {
      const place = index === undefined ? undefined : places[index]
      const time = place === undefined ? undefined : plot?.data[0][place]
      isPointedByUs = true
      if (plot && time !== undefined) plot.setCursor({ left: plot.valToPos(time, 'x'), top: 0 })
      else plot?.setCursor({ left: -10, top: -10 })
      isPointedByUs = false
    },
    close() {
      sizes.disconnect()
      themes.disconnect()
      colours.removeEventListener('change', redraw)
      plot?.destroy()
    },
  }
}

/** The columns of the plot, with an empty place where a line breaks off. */
function placed({ days, lines }: Days, breaks: ReadonlySet<number>) {
  const size = days.length + breaks.size
  const ownIndexes = new Int32Array(size)
  const places = new Int32Array(days.length)
  const times = new Array<number>(size)
  const columns = lines.map(() => new Array<number | null | undefined>(size))
  let place = 0
  for (const [index, day] of days.entries()) {
    const time = Date.parse(day) / 1000
    if (breaks.has(index)) {
      times[place] = time - 86_400
      ownIndexes[place] = index
      for (const column of columns) column[place] = null
      place += 1
    }
    times[place] = time
    ownIndexes[place] = index
    places[index] = place
    for (const [at, column] of columns.entries()) {
      const value = lines[at]?.values[index]
      column[place] = value === undefined ? undefined : Number(value)
    }
    place += 1
  }
  return { columns: [times, ...columns] as uPlot.AlignedData, ownIndexes, places }
}

function optionsOf(
  host: HTMLElement,
  { lines }: Days,
  formats: Formats,
  hooks: uPlot.Hooks.Arrays,
): uPlot.Options {
  const ink = colourOf(host, 'ink')
  const grid = { stroke: colourOf(host, 'grid'), width: 1 }
  const axis = { stroke: ink, font: '12px system-ui, sans-serif', ticks: { show: false } }
  const isNarrow = host.clientWidth < NARROW
  const strokes = lines.map(({ name }) => colourOf(host, name))
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    padding: [10, 0, 0, 0],
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 9, width: 2, fill: colourOf(host, 'ground') },
    },
    scales: { x: { time: true, range: (_plot, low, high) => [low, high] } },
    axes: [
      {
        ...axis,
        size: AXIS_HEIGHT,
        space: isNarrow ? 70 : 84,
        grid: { show: false },
        values: (plot, splits, _axis, _space, step) =>
          splits.map((time) => (plot.valToPos(time, 'x') < LABEL_HALF ? '' : timeLabel(time, step, formats))),
      },
      {
        ...axis,
        side: 1,
        size: AXIS_WIDTH,
        space: 46,
        gap: 10,
        grid,
        values: (_plot, splits) => splits.map(formats.axis),
      },
    ],
    series: [
      {},
      ...strokes.map((stroke) => ({
        stroke,
        width: 1.75,
        points: { show: false },
        ...(lines.length === 1 ? { fill: `${stroke}14` } : {}),
      })),
    ],
    ...(strokes[1] ? { bands: [{ series: [2, 1] as [number, number], fill: `${strokes[1]}17` }] } : {}),
    hooks,
  }
}

function timeLabel(time: number, step: number, formats: Formats): string {
  const day = new Date(time * 1000).toISOString().slice(0, 10)
  if (step >= YEAR_SECONDS) return formats.year(day)
  return step >= MONTH_SECONDS ? formats.month(day) : formats.monthDay(day)
}

/** A finger reads the chart as a pointer does; up and down it scrolls the page. */
function readTouches({ over }: uPlot, read: (left: number) => void): void {
  const touched = (event: PointerEvent) => {
    if (event.pointerType === 'mouse') return
    read(Math.max(0, Math.min(event.clientX - over.getBoundingClientRect().left, over.clientWidth)))
  }
  over.addEventListener('pointerdown', touched)
  over.addEventListener('pointermove', touched)
}

/** A colour of the style sheet as #rrggbb: a canvas knows no variables. */
function colourOf(host: HTMLElement, name: string): string {
  const probe = document.createElement('i')
  probe.className = `colour-${name}`
  host.append(probe)
  const [red = 0, green = 0, blue = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? []
  probe.remove()
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
}
