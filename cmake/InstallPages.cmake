# Manual pages and completions of shells. The command writes them itself, from its help, when it is
# installed; one that was compiled for another machine cannot.
if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(pages "${PROJECT_BINARY_DIR}/pages")
install(CODE "
  file(REMOVE_RECURSE \"${pages}\")
  file(MAKE_DIRECTORY \"${pages}\")
  execute_process(COMMAND \"$<TARGET_FILE:tutti_cli>\" man -o \"${pages}/man1\"
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell IN ITEMS bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:tutti_cli>\" completion \${shell}
      OUTPUT_FILE \"${pages}/tutti.\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
install(FILES "${pages}/tutti.bash" RENAME tutti
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions")
install(FILES "${pages}/tutti.zsh" RENAME _tutti
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions")
install(FILES "${pages}/tutti.fish" RENAME tutti.fish
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d")
