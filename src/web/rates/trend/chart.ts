// Draws the chart. Only here values become floats: they are positions in pixels, not figures.

import uPlot from 'uplot'
import type { Formats } from '../../model/formats.ts'
import type { Trend } from '../../model/rates/history.ts'

export type Chart = {
  /** @param breaks indexes of the days that follow a gap in the lines */
  draw(data: Trend, breaks: readonly number[], formats: Formats): void
  /** Moves the cursor to a day by its index; undefined: hides it. */
  point(index: number | undefined): void
  close(): void
}

export type ChartEvents = {
  /** Receives the index of the day under the pointer. */
  onPoint(index: number): void
  /** Receives the first and the last day of a dragged range. */
  onZoom(from: number, to: number): void
}

const AXIS_WIDTH = 58
const AXIS_GAP = 10
const DIGIT_WIDTH = 7
const AXIS_HEIGHT = 30
const LABEL_HALF = 22 // labels nearer to the left edge are clipped
const NARROW = 520
const MAX_PLACES = 12
const YEAR_SECONDS = 31_536_000
const MONTH_SECONDS = 2_419_200
// Letter without margins has 695 px, and A4 672. The style reduces the drawing to half its size, for sharp letters.
const PAPER = { width: 1320, height: 440, scale: 2, ink: '#000000', grid: '#bbbbbb' }

export function openChart(host: HTMLElement, events: ChartEvents): Chart {
  let plot: uPlot | undefined
  let dayIndexes: Int32Array = new Int32Array() // day of each position of the plot; a break has that of its neighbour
  let positions: Int32Array = new Int32Array() // position of each day
  let lastDrawing: Parameters<Chart['draw']> | undefined
  let isOwnCursor = false
  const sizes = new ResizeObserver(() => {
    if (plot && host.clientWidth > 0 && !paper.matches)
      plot.setSize({ width: host.clientWidth, height: host.clientHeight })
  })
  const redraw = () => {
    if (lastDrawing) draw(...lastDrawing)
  }
  const paper = matchMedia('print')
  paper.addEventListener('change', redraw)
  sizes.observe(host)
  const colours = matchMedia('(prefers-color-scheme: dark)')
  colours.addEventListener('change', redraw)
  const themes = new MutationObserver(redraw)
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })

  function draw(...drawing: Parameters<Chart['draw']>) {
    lastDrawing = drawing
    const [data, breaks, formats] = drawing
    const oldPlot = plot
    const table = plotTable(data, new Set(breaks))
    dayIndexes = table.dayIndexes
    positions = table.positions
    plot = new uPlot(plotOptions(host, data, formats, hooks(), paper.matches), table.columns, host)
    oldPlot?.destroy()
    readTouches(plot, (left) => notifyPoint(plot?.posToIdx(left)))
  }
  function hooks(): uPlot.Hooks.Arrays {
    return {
      setCursor: [
        ({ cursor }) => {
          if (!isOwnCursor && cursor.idx != null && (cursor.left ?? -1) >= 0) notifyPoint(cursor.idx)
        },
      ],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select
          if (width < 8) return
          const [from, to] = [chart.posToIdx(left), chart.posToIdx(left + width)]
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          events.onZoom(dayIndexes[from] ?? 0, dayIndexes[to] ?? 0)
        },
      ],
    }
  }
  function notifyPoint(position: number | undefined) {
    if (position !== undefined) events.onPoint(dayIndexes[position] ?? 0)
  }
  return {
    draw,
    point(index) {
      const position = index === undefined ? undefined : positions[index]
      const time = position === undefined ? undefined : plot?.data[0][position]
      isOwnCursor = true
      if (plot && time !== undefined) plot.setCursor({ left: plot.valToPos(time, 'x'), top: 0 })
      else plot?.setCursor({ left: -10, top: -10 })
      isOwnCursor = false
    },
    close() {
      sizes.disconnect()
      themes.disconnect()
      colours.removeEventListener('change', redraw)
      paper.removeEventListener('change', redraw)
      plot?.destroy()
    },
  }
}

/** Columns of the plot, with an empty position at each break. */
function plotTable({ days, lines }: Trend, breaks: ReadonlySet<number>) {
  const size = days.length + breaks.size
  const dayIndexes = new Int32Array(size)
  const positions = new Int32Array(days.length)
  const times = new Array<number>(size)
  const columns = lines.map(() => new Array<number | null | undefined>(size))
  let position = 0
  for (const [index, day] of days.entries()) {
    const time = Date.parse(day) / 1000
    if (breaks.has(index)) {
      times[position] = time - 86_400
      dayIndexes[position] = index
      for (const column of columns) column[position] = null
      position += 1
    }
    times[position] = time
    dayIndexes[position] = index
    positions[index] = position
    for (const [at, column] of columns.entries()) {
      const value = lines[at]?.values[index]
      column[position] = value === undefined ? undefined : Number(value)
    }
    position += 1
  }
  return { columns: [times, ...columns] as uPlot.AlignedData, dayIndexes, positions }
}

function plotOptions(
  host: HTMLElement,
  { lines }: Trend,
  formats: Formats,
  hooks: uPlot.Hooks.Arrays,
  isPaper: boolean,
): uPlot.Options {
  const { width, height, scale } = isPaper
    ? PAPER
    : { width: host.clientWidth, height: host.clientHeight, scale: 1 }
  const ink = isPaper ? PAPER.ink : cssColour(host, 'ink')
  const grid = { stroke: isPaper ? PAPER.grid : cssColour(host, 'grid'), width: scale }
  const axis = { stroke: ink, font: `${12 * scale}px system-ui, sans-serif`, ticks: { show: false } }
  const isNarrow = width < NARROW
  const strokes = lines.map(({ name }) => (isPaper ? PAPER.ink : cssColour(host, name)))
  return {
    ...{ width, height },
    padding: [10 * scale, 0, 0, 0],
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 9, width: 2, fill: cssColour(host, 'ground') },
    },
    scales: { x: { time: true, range: (_plot, low, high) => [low, high] } },
    axes: [
      {
        ...axis,
        size: AXIS_HEIGHT * scale,
        space: (isNarrow ? 70 : 84) * scale,
        grid: { show: false },
        values: (plot, splits, _axis, _space, step) =>
          splits.map((time) =>
            plot.valToPos(time, 'x') < LABEL_HALF * scale ? '' : timeLabel(time, step, formats),
          ),
      },
      {
        ...axis,
        side: 1,
        size: (_plot, labels) => axisWidth(host, labels ?? []) * scale,
        space: 46 * scale,
        gap: AXIS_GAP * scale,
        grid,
        values: (_plot, splits, _axis, _space, step) => {
          const places = stepPlaces(step)
          return splits.map((position) => formats.axis(position, places))
        },
      },
    ],
    series: [
      {},
      ...strokes.map((stroke, index) => ({
        stroke,
        width: 1.75 * scale,
        points: { show: false },
        ...(isDashed(lines[index]?.name, isPaper) ? { dash: [6 * scale, 4 * scale] } : {}),
        ...(lines.length === 1 && !isPaper ? { fill: `${stroke}14` } : {}),
      })),
    ],
    ...(strokes[1] && lines[0]?.name === 'compra' && !isPaper
      ? { bands: [{ series: [2, 1] as [number, number], fill: `${strokes[1]}17` }] }
      : {}),
    hooks,
  }
}

/** Paper has no colours to distinguish the lines. */
function isDashed(name: string | undefined, isPaper: boolean): boolean {
  return name === 'other' || (isPaper && name === 'compra')
}

/** Decimals of the labels of an axis, all of them alike. */
function stepPlaces(step: number): number {
  let places = 0
  while (places < MAX_PLACES && Math.abs(step * 10 ** places - Math.round(step * 10 ** places)) > 1e-6)
    places += 1
  return places
}

/** Width of the labels. The slider ends where they begin. */
function axisWidth(host: HTMLElement, labels: readonly string[]): number {
  const longest = Math.max(0, ...labels.map(({ length }) => length))
  const width = Math.max(AXIS_WIDTH, AXIS_GAP + 4 + longest * DIGIT_WIDTH)
  host.parentElement?.style.setProperty('--axis', `${width}px`)
  return width
}

function timeLabel(time: number, step: number, formats: Formats): string {
  const day = new Date(time * 1000).toISOString().slice(0, 10)
  if (step >= YEAR_SECONDS) return formats.year(day)
  return step >= MONTH_SECONDS ? formats.month(day) : formats.monthDay(day)
}

/** Selects days by touch. Vertical moves scroll the page. */
function readTouches({ over }: uPlot, read: (left: number) => void): void {
  const onTouch = (event: PointerEvent) => {
    if (event.pointerType === 'mouse') return
    read(Math.max(0, Math.min(event.clientX - over.getBoundingClientRect().left, over.clientWidth)))
  }
  over.addEventListener('pointerdown', onTouch)
  over.addEventListener('pointermove', onTouch)
}

/** Colour of the style sheet as #rrggbb, since a canvas has no CSS variables. */
function cssColour(host: HTMLElement, name: string): string {
  const probe = document.createElement('i')
  probe.className = `colour-${name}`
  host.append(probe)
  const [red = 0, green = 0, blue = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? []
  probe.remove()
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
}
