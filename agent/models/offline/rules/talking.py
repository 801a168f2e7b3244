"""Rules for talk that wants no more than words: greetings, help, what is done elsewhere."""

from __future__ import annotations

from agent.models.offline.intents import Intent, Subject, Talk
from agent.models.offline.reference import NUMBER, ORDINAL
from agent.models.offline.rules.rule import RuleSet, Said

TALK = RuleSet()
"""Tried before the rules that show something."""
BEYOND = RuleSet()
"""Tried after them: what is done elsewhere, or not by us."""


def _talk(rules: RuleSet, subject: Subject, *patterns: str) -> None:
    @rules.on(*patterns)
    def say(said: Said) -> Intent:
        return Talk(subject, said.phrase.raw()[:200])


_HELLO = (
    "(?:hi|hello|hey|howdy|greetings|yo|hiya|good (?:morning|evening|afternoon|day)|hello there|hi "
    "there|hey there)"
)
_talk(
    TALK,
    "hello",
    f"{_HELLO}(?: (?:,|again|everyone|agent|assistant|friend|buddy|claude|fraude))*",
    "(?:anybody|anyone) (?:there|home)",
    f"{_HELLO}(?: [,!.])* (?:how are you|how's it going|what's up|nice to meet you)(?: (?:doing|"
    f"today|doing today))?",
    "how are you(?: (?:doing|today))*",
    "what's up",
)
_talk(
    TALK,
    "identity",
    f"(?:{_HELLO}(?: there)?(?: [,!.])* )?(?:and )?(?:who|what) (?:are|r) (?:you|u)(?: exactly| "
    f"anyway| really)?",
    "what(?:'s| is) your (?:name|model|purpose|role|job)",
    "what (?:model|llm|kind of (?:model|ai|assistant|bot)) (?:are|is|do) (?:you|this|we)(?: using| use)?",
    "are you (?:an? )?(?:real |actual |human |neural |large |language )*(?:ai|llm|claude|chatgpt|"
    "gpt|bot|robot|human|person|model|assistant|persona|optimist|neural|real|alive|online|offline|"
    "connected|program|machine)",
    "(?:please )?introduce yourself",
    "(?:tell me|say something) (?:something )?about yourself",
    "which model (?:is this|are you|do you use|are you using)",
    "who am i (?:talking|speaking) (?:to|with)",
    "are you there",
)
_talk(
    TALK,
    "help",
    "(?:/ )?help(?: me)?(?: please)?",
    "\\?+",
    "what (?:can|could|do) (?:you|u) (?:do|understand|help(?: me)? with|know how to do|offer|"
    "support)(?: for me| here)?",
    "what (?:commands|requests|kinds? of requests|instructions|things) (?:do|can|are) (?:you|i|"
    "there)(?: {x})?",
    "(?:how|what) can (?:you|i) (?:help|say|ask|tell|do|use)(?: me| you| here| to you| with you| "
    "this| for me)*",
    "how (?:do|can|should) i (?:use|talk to|work with) (?:this|you|this program|this thing|it)",
    "how does (?:this|it) work",
    "commands|options|menu|usage|manual",
    "<show> (?:the |your )?(?:commands|options|help|features|capabilities|abilities)",
    "what can (?:you|i|we) do (?:with|about|to|for) {x}",
    "what are your (?:capabilities|abilities|features|commands|skills|limits|limitations)",
    "what are you (?:able to do|capable of|good at)",
    "i need help",
    "i(?:'m| am) (?:lost|stuck|confused)",
    "what now|what next|now what",
    "can you (?:delete|rename|edit|change|remove|add|create|update|undo|replace|list|show|do) "
    "(?:tests|test inputs|test cases|personas|prompts|system prompts|names|things|text|lines|"
    "changes|edits|anything|stuff)",
)
_talk(
    TALK,
    "connect",
    "(?:{x} )?(?:connect|connecting|hook up|plug in|configure|enable|attach|switch to|switching to|"
    "use|using|set up|setting up|activate|get) (?:to )?(?:an? |the |my )?(?:real |actual |proper |"
    "better |other |different |neural |online |another |smarter |api |anthropic |claude |local "
    ")*(?:model|api|api key|key|llm|claude|sonnet|opus|haiku|ollama|gpt|ai|server|endpoint)(?: "
    "{y})?",
    "(?:{x} )?(?:api key|api-key|anthropic_api_key|anthropic - api - key|base_url|base url)(?: {y})?",
    "(?:set|add|put|enter|give|use|store|paste|save|where (?:do|can|should) i (?:put|set|enter|add|paste)|here "
    "is|here's) (?:you )?(?:in )?(?:my|the|a|an) (?:[^ ]+ )?(?:key|token)(?: {y})?",
    "(?:how|where) (?:do|can|could|should|would) (?:i|we) (?:log in|login|sign in|authenticate|choose (?:a|the|another) "
    "model|change the model|pick a model|get a (?:real|better) model)(?: {y})?",
    "(?:{x} )?(?:sk - ant - |sk-ant-).*",
)
_talk(
    TALK,
    "thanks",
    "(?:thanks|thank you|cheers|ty|great|perfect|awesome|nice|cool|good|excellent|wonderful|"
    "amazing|good job|well done|nice work|great job|great work|good work|that's (?:great|perfect|"
    "good|better|it|all|fine)|looks good|love it|i (?:love|like) it|lovely|brilliant|fantastic|"
    "super)"
    "(?: (?:[,.!]|a lot|so much|very much|thanks|thank you|great|perfect|job|work|that's all|that "
    "is all|for now|for your help|for that|you|again|bye|well done|nice|good|cool))*",
)
_talk(
    TALK,
    "farewell",
    "call (?:it|this) (?:quits|a day|a night|even)",
    "(?:bye|goodbye|good bye|see you|see ya|good night|quit|exit|later|see you later|bye bye|/ "
    "(?:quit|exit))(?: [^ ]+)?",
)
_talk(
    TALK,
    "nothing",
    "(?:no|nope|nah|never mind|nevermind|cancel|stop|forget it|forget that|none|neither|nothing|"
    "not now|leave it|skip it|none of (?:them|these|those)|no thanks|no thank you|don't|do not|"
    "abort|no ,? (?:leave it|nothing|never mind|don't|cancel|stop|thanks))(?: (?:[,.!]|please|"
    "thanks|thank you|then))*",
    "(?:(?:hm+|oh|ah|well|sorry|no|ok|okay) ,? ?)*(?:idk|i (?:do not|don't) know|dunno|(?:i'm |i am )?not (?:so )?"
    "sure|(?:i have )?no idea|(?:let me|i have to|i need to) think(?: about it)?|wait|hold on|hang on|one (?:moment|"
    "second|sec)|just a (?:moment|second|sec|minute)|i can't decide|whatever|huh|what|pardon)(?: (?:yet|please|a "
    "moment|a second|wait|no))*",
)
_talk(
    TALK,
    "thanks",
    "(?:many |a thousand |so many )?thanks(?: (?:a lot|a million|in advance|so much|again|very "
    "much|for your help|for everything))*",
    "(?:(?:kind|best|warm) )?regards(?:(?: ,)? [^ ]+)?",
    "(?:best|cheers|sincerely|yours|love)(?: ,)? [^ ]+",
)
_talk(TALK, "comment", "i hope {x}", "hope {x}", "(?:that's|that is) all(?: for now| for today)?")
_talk(TALK, "nothing", "(?:<delete>|<change>|<add>|do) nothing(?: (?:at all|please|for now|now|else))*")
_talk(
    TALK,
    "comment",
    "(?:ok|okay|alright|all right|fine|yes|yeah|yep|sure|right|got it|i see|understood|hm+|ah|oh|"
    "aha|so|and|well)",
)
_talk(
    TALK,
    "memory",
    "(?:(?:do|can|could) you (?:still )?(?:remember|recall|know|tell me) )?(?:what|which "
    "(?:question|message|request|one)) (?:did|was it) i (?:just |last |first |previously )*(?:say|"
    "said|ask|asked|tell|told|write|wrote|request|requested|want|wanted)(?: (?:you|before|first|"
    "last|just|now|earlier|previously|to|for|about|me|in|my|message|the))*",
    "(?:do you remember )?what i (?:just |last |first )?(?:said|asked|told|wrote)(?: {x})?",
    "what (?:was|is|were) my (?:last|previous|first|earlier) (?:question|message|request|requests|"
    "questions|messages|instruction|sentence)",
    "what (?:have|did) (?:we|you|i) (?:just |already )*(?:done|do|changed|change|talked about|talk "
    "about|discussed|discuss|said|say|asked|edited|edit)(?: {x})?",
    "(?:summarize|summarise|sum up|recap) (?:our|the|this) (?:conversation|chat|session|"
    "discussion)(?: so far)?",
    "do you (?:still )?remember(?: {x})?",
    "what did i (?:just )?(?:ask|say|tell you)(?: {x})?",
    "(?:what|which) (?:changes|edits) (?:did|have) (?:you|we|i) (?:make|made|do|done)(?: {x})?",
    "what (?:changed|has changed|happened)(?: {x})?",
)

_talk(
    BEYOND,
    "elsewhere",
    "(?:<add>|new|start|build|generate|design|duplicate|clone|copy) (?:a|an|another|new|one more|"
    "the|this|second|me|us| )*(?:persona|personas|character)(?: {x})?",
    "(?:<delete>) (?:the |this |my |our |whole |entire |all |all the )*(?:persona|personas|file|"
    "yourself|character)",
    "(?:<delete>|reset|forget|restart|empty|start over|wipe) (?:the |this |our |my |whole |entire "
    ")*(?:conversation|chat|history|session|chat history|context|memory)",
    "(?:start|begin|open) (?:a )?(?:new|fresh) (?:conversation|chat|session)",
    "start over|start again|start fresh",
    "(?:run|execute|try|try out|launch|start) (?:all |all of |all the |the |my |this |every |it |"
    "both )*(?:{x} )?(?:<tests>|<test>|persona|bot|them|one)(?: {y})?",
    "(?:run|execute) (?:it|them|everything|all)",
    "(?:save|save it|save the (?:file|changes|persona)|save everything)",
    "(?:export|import|load|open|switch to|go to|rename file|download|upload|share|publish|compile) "
    "(?:<it>|the|a|an|another|my|as|to|from|{x})",
    "(?:<change>|<add>|<delete>) (?:the |its |a |an |some |new |persona's |this )*(?:description|"
    "tags?|summary|model|temperature|effort|max tokens|id|file name|filename|traits?|skills?|"
    "guardrails?|avatar|icon|settings?)(?: {x})?",
    "(?:what|which) (?:is |are |'s )?(?:the |its )?(?:description|tags|summary|settings|file name|"
    "filename|id)",
    "<show> (?:the |its |me )*(?:description|tags|summary|settings|log|versions|diff|history|file)(?: {x})?",
    "(?:<change>|<show>) (?:the )?(?:name|title|label|id) of <the>(?:[^ ]+ ){0,3}<test>(?: {x})?",
)
_talk(
    BEYOND,
    "order",
    "(?:swap|switch|exchange|reorder|sort|rearrange|reverse|shuffle|move) (?:the order of )?(?P<x><the>"
    "(?:[^ ]+ ){0,6}?(?:<tests>|<test>))(?: {y})?",
    f"(?:swap|switch|exchange|move) <the>(?:{ORDINAL}|{NUMBER}|(?:<test>|<tests>) {NUMBER}) (?:and|with) <the>(?:test )?"
    f"(?:{ORDINAL}|{NUMBER})(?: (?:<tests>|<test>|one|ones))?",
    "(?:change|reverse|switch|swap) the order(?: of {x})?",
)
_talk(
    BEYOND,
    "redo",
    "redo(?: {x})?",
    "(?:undo|revert) (?:the|that|your|my) (?:undo|last undo)",
)
_talk(
    BEYOND,
    "persona-voice",
    "(?:please )?(?:speak|talk|answer|respond|reply|act|behave|be|pretend|roleplay|role play|role "
    "- play|play|write)(?: to me)?(?: (?:to be|as if you (?:were|are)))?(?: (?:as|like|in the "
    "voice of|in character as|the role of))? (?:<it>|the (?:persona|optimist)|an? optimist|your "
    "persona|in character)(?: {x})?",
    "(?:what|how) would (?:<it>|the persona|he|she) (?:say|answer|reply|respond|do|react|think|"
    "feel)(?: {x})?",
    "(?:test|try|demonstrate) (?:<it>|the persona|persona)(?: {x})?",
    "can i (?:talk|speak|chat) (?:to|with) <it>",
    "ask <it> {x}",
    "(?:say|answer) (?:hello|hi|something|this) (?:as|like) {x}",
)
