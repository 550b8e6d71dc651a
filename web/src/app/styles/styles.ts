// The order counts: what comes later wins.
import "./tokens.css";
import "./plain.css";
import "./shell.css";
import "../../parts/parts.css";
import "../../conversations/conversations.css";
import "../../chat/chat.css";
import "../../markdown/markdown.css";
import "../../files/files.css";
import "../../preview/preview.css";
import "../../chat/cards.css";
import "../../chat/agents.css";
import "../../chat/composer.css";
import "../../decisions/decisions.css";
import "../../settings/settings.css";
import "../../tasks/tasks.css";
import "../../timeline/timeline.css";
