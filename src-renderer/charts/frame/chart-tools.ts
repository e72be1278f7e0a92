/**
 * A chart is one stop of the Tab key: its plot. Enter moves the focus from there to its tools, arrow keys move it from
 * tool to tool, and Escape moves it back. Tools have `data-chart-tool` and `tabindex="-1"`.
 */
export function moveAmongTools(event: KeyboardEvent): void {
  const { target, key } = event;
  if (!(target instanceof HTMLElement)) return;
  const chart = target.closest('figure');
  if (chart === null) return;
  if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
  const tools = [...chart.querySelectorAll<HTMLElement>('[data-chart-tool]')];
  const place = tools.indexOf(target);
  const next = place === -1 ? firstOf(tools, target, key) : nextOf(chart, tools, place, key);
  if (next === undefined || next === null) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

function firstOf(tools: readonly HTMLElement[], target: HTMLElement, key: string): HTMLElement | undefined {
  return key === 'Enter' && target.classList.contains('chart-plot') ? tools.at(0) : undefined;
}

function nextOf(
  chart: HTMLElement,
  tools: readonly HTMLElement[],
  place: number,
  key: string,
): HTMLElement | null | undefined {
  switch (key) {
    case 'ArrowRight':
      return tools[(place + 1) % tools.length];
    case 'ArrowLeft':
      return tools.at(place - 1);
    case 'Home':
      return tools.at(0);
    case 'End':
      return tools.at(-1);
    case 'Escape':
      // Escape first closes what the tool has opened, or the dialog that shows the chart enlarged.
      return tools[place].ariaExpanded === 'true' || chart.closest('[role=dialog]') !== null
        ? null
        : chart.querySelector<HTMLElement>('.chart-plot');
    default:
      return null;
  }
}
