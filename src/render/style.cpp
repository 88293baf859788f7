#include "render/style.hpp"

#include <array>

namespace tutti::render {
namespace {

struct Colour {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

// Series start with Okabe and Ito's colours ("Color Universal Design", 2008), darkened on light
// and lightened on dark backgrounds, so that text in them is readable too. Ranks run through the
// hues, every other one darker, so that neighbours differ even in grey.
constexpr std::array colours{
    Colour{"paper", "#ffffff", "#15181d"},    Colour{"panel", "#f5f6f8", "#1d2128"},
    Colour{"ink", "#1d2127", "#e7eaee"},      Colour{"soft", "#5b6470", "#a3acb8"},
    Colour{"faint", "#dde1e6", "#343a44"},    Colour{"empty", "#ffffff", "#1a1e24"},
    Colour{"accent", "#b3261e", "#ff8a80"},   Colour{"done", "#00815c", "#2ec99a"},
    Colour{"adds", "#c04a00", "#ff8f52"},     Colour{"copies", "#3d5a80", "#8fb3e0"},
    Colour{"series-0", "#0068a5", "#56b4e9"}, Colour{"series-1", "#c04a00", "#ff8f52"},
    Colour{"series-2", "#007a57", "#2ec99a"}, Colour{"series-3", "#a03c78", "#e48fc0"},
    Colour{"series-4", "#8a6100", "#f0c344"}, Colour{"series-5", "#5b52c2", "#a9a4ff"},
    Colour{"series-6", "#4a525d", "#c2c9d2"}, Colour{"heat-0", "#c9ced6", "#4a5361"},
    Colour{"heat-1", "#e3c27a", "#6b4a1d"},   Colour{"heat-2", "#e9a13b", "#96601a"},
    Colour{"heat-3", "#e07b28", "#c07a1f"},   Colour{"heat-4", "#c9521f", "#e39a3c"},
    Colour{"heat-5", "#a32b1f", "#f4be62"},   Colour{"heat-6", "#6f0f1e", "#ffe6a8"},
    Colour{"rank-0", "#644395", "#8062b0"},   Colour{"rank-1", "#38356c", "#4d4c81"},
    Colour{"rank-2", "#4160ae", "#5f7ec9"},   Colour{"rank-3", "#134975", "#305f8a"},
    Colour{"rank-4", "#007db0", "#289aca"},   Colour{"rank-5", "#005b6e", "#007083"},
    Colour{"rank-6", "#00959b", "#00b1b5"},   Colour{"rank-7", "#00685b", "#1a7d70"},
    Colour{"rank-8", "#1da577", "#53bf94"},   Colour{"rank-9", "#396f41", "#528457"},
    Colour{"rank-10", "#7faa4f", "#9cc571"},  Colour{"rank-11", "#6a6f28", "#7f8544"},
    Colour{"rank-12", "#c1a738", "#dac362"},  Colour{"rank-13", "#906c2b", "#a58248"},
    Colour{"rank-14", "#f1a258", "#ffbe7c"},  Colour{"rank-15", "#a86a4d", "#ad8164"},
};

struct Rule {
  std::string_view name;
  std::string_view body;
};

constexpr std::array rules{
    Rule{"bold", "font-weight:600"},
    Rule{"line", "fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round"},
    Rule{"thin", "stroke-width:1"},
    Rule{"arrow", "stroke-width:1.4"},
    Rule{"outline", "stroke-width:1.2;fill:none"},
    Rule{"thick", "stroke-width:2"},
    Rule{"halo", "paint-order:stroke;stroke-width:5;stroke-linejoin:round"},
    Rule{"dashed", "stroke-dasharray:6 5"},
    Rule{"broken", "stroke-dasharray:12 4"},
    Rule{"dotted", "stroke-dasharray:2 4"},
    Rule{"band", "opacity:.18"},
    Rule{"pale", "opacity:.42"},
    Rule{"hair", "fill:none;stroke-width:.5;opacity:.5"},
    Rule{"load-0", "fill:none;stroke-width:1.2"},
    Rule{"load-1", "fill:none;stroke-width:1.8"},
    Rule{"load-2", "fill:none;stroke-width:2.5"},
    Rule{"load-3", "fill:none;stroke-width:3.2"},
    Rule{"load-4", "fill:none;stroke-width:4"},
    Rule{"load-5", "fill:none;stroke-width:4.8"},
    Rule{"load-6", "fill:none;stroke-width:5.6"},
    Rule{"mono",
         "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"},
};

void add(std::string& sheet, std::string_view selector, std::string_view property,
         std::string_view value) {
  sheet.append(".").append(selector).append("{").append(property);
  sheet.append(property.empty() ? "" : ":").append(value).append("}");
}

std::string colours_of(const std::set<std::string, std::less<>>& classes, bool dark) {
  std::string sheet;
  for (const Colour& colour : colours) {
    const std::string_view value = dark ? colour.dark : colour.light;
    const std::string outline = std::string(colour.name) + "-line";
    if (classes.contains(colour.name)) add(sheet, colour.name, "fill", value);
    if (classes.contains(outline)) add(sheet, outline, "stroke", value);
  }
  return sheet;
}

}  // namespace

std::string style_sheet(const std::set<std::string, std::less<>>& classes) {
  std::string sheet =
      "text{font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif}";
  sheet += colours_of(classes, false);
  for (const Rule& rule : rules) {
    if (classes.contains(rule.name)) add(sheet, rule.name, "", rule.body);
  }
  // Light colours first and dark ones in a media query, instead of variables: programs that do not
  // support the query, as most print programs, then draw the light picture.
  return sheet + "@media(prefers-color-scheme:dark){" + colours_of(classes, true) + "}";
}

}  // namespace tutti::render
