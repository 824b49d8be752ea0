// Announcements to screen readers and sounds of a game on the board.
import { untrack } from 'svelte';
import { prefs } from '../../app/prefs.svelte';
import { play as playSound } from '../../app/sounds';
import { announce } from '../../app/toasts.svelte';
import { moveText, outcomeText, scoreSpoken, sideName } from '../../i18n/format';
import type { Score } from '../../api/wire';
import { ofVariant, t } from '../../i18n/index.svelte';
import type { Game } from '../../store/apply';
import type { GameId, NodeId } from '../../store/ids';
import { evaluationOf, moverOf } from '../../store/tree';

/** Reports the moves and the end of a game. `hidden` hides evaluations. */
export function gameEvents(current: () => Game | undefined, hidden: () => boolean) {
  let announced = '';
  $effect(() => {
    const game = current();
    if (!game) return;
    const node = game.nodes.get(game.cursor);
    const key = `${game.id}/${game.cursor}/${game.outcome?.termination ?? ''}`;
    if (key === announced) return;
    announced = key;
    untrack(() => {
      if (prefs.announce !== 'true') return;
      const parts: string[] = [];
      if (node && node.parent !== null) {
        parts.push(
          t('announce.move', {
            side: sideName(moverOf(game, node), game.variant, game.handicap),
            move: moveText(node.text),
          }),
        );
        const evaluation = evaluationOf(node);
        if (evaluation && !hidden()) parts.push(scoreSpoken(evaluation.score, game.variant));
      }
      if (game.position.check) parts.push(t(ofVariant('board.check', game.variant)));
      if (game.outcome && game.play?.last_move_node === game.cursor)
        parts.push(outcomeText(game.outcome, game.variant, game.handicap));
      announce(parts.join(', '));
    });
  });

  let sounded: { game: GameId; node: NodeId; over: boolean } | null = null;
  $effect(() => {
    const game = current();
    if (!game) return;
    const over = game.outcome !== null;
    const before = sounded?.game === game.id ? sounded : null;
    sounded = { game: game.id, node: game.cursor, over };
    const node = game.nodes.get(game.cursor);
    if (!before || !node) return;
    const ends = over && !before.over && game.play?.last_move_node === game.cursor;
    if (!ends && node.parent !== before.node) return;
    const { check } = game.position;
    const capture = node.text.western.includes('x');
    untrack(() => playSound(ends ? 'end' : check ? 'check' : capture ? 'capture' : 'move'));
  });
}

/** Announces the evaluation of the position, from the first side. */
export function announceEvaluation(game: Game | undefined, score: Score | null) {
  const ending = game?.position.ending;
  if (game && ending) announce(outcomeText(ending, game.variant, game.handicap));
  else announce(score && game ? t('eval.is', { score: scoreSpoken(score, game.variant) }) : t('eval.none'));
}
